# The image of a release: the program and nothing else, which needs neither libraries nor
# files. GoReleaser builds it (dockers_v2) where it has put the programs, each in the
# folder of its platform.
#
#   docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" kestrel run sales.csv --headless --out run
#   docker run --rm -v "$PWD:/data" -p 127.0.0.1:8080:8080 kestrel serve m.kestrel --listen :8080
FROM scratch
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/kestrel /usr/bin/kestrel
COPY LICENSE bin/third-party-licences.txt /usr/share/doc/kestrel/
WORKDIR /data
USER 65532:65532
ENTRYPOINT ["/usr/bin/kestrel"]
CMD ["--help"]

#!/usr/bin/env bash
# Whether a built kestrel computes and draws what it did when the hashes below were
# printed, byte for byte: for a change that is to change no result.
#
#	scripts/unchanged.sh [PROGRAM]           compare with the hashes below
#	scripts/unchanged.sh PROGRAM --print     print them
#	scripts/unchanged.sh PROGRAM --against OTHER
#
# PROGRAM is a built kestrel (built here if none is named). Hashed are, of each
# run, posterior.csv, kernels.csv, metrics.csv without its seconds, what export
# makes anew, predictions with components and quantiles, and the figures whose
# axes are not times. The instruction set is fixed, because levels differ in the
# last bits; the hashes hold for amd64 with AVX2 and are kept here, not in a
# test, since another compiler may fuse other operations. A change that means to
# change results prints new ones. Runs on data sets need $KESTREL_DATA.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export KESTREL_SIMD=avx2 LC_ALL=C
program=${1:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ -z "$program" ]; then
	program=$tmp/kestrel
	(cd "$here/.." && go build -o "$program" .)
fi
program=$(realpath "$program")
data=${KESTREL_DATA:-}
small="--set kernels.set=K12"

# points COLUMN FROM TO N
points() { awk -v n="$1" -v a="$2" -v b="$3" -v k="$4" 'BEGIN { print n; for (i = 0; i < k; i++) print a + (b-a)*i/(k-1) }'; }

# one PROGRAM NAME POINTS ARGUMENTS... prints the hashes of a run.
one() {
	local program=$1 name=$2 at=$3 dir
	shift 3
	dir=$(mktemp -d -p "$tmp")
	(
		cd "$dir"
		"$program" run "$@" --headless --quiet --out run >/dev/null
		cut -d, -f1,2,4- run/metrics.csv >metrics
		"$program" export run -o export >/dev/null
		cut -d, -f1,2,4- export/metrics.csv >export/metrics && rm export/metrics.csv
		"$program" predict run --data "$at" --quantiles 0.025,0.5,0.975 --components -o predictions.csv 2>/dev/null
		"$program" figures run -o figures >/dev/null 2>&1
		rm -f figures/*-rmse.* figures/*-table.* # times
		sha256sum run/posterior.csv run/kernels.csv metrics export/* predictions.csv figures/*
	) | sed "s|  |  $name/|"
}

all() {
	local program=$1
	points x -1 6 57 >"$tmp/short.csv"
	points x 1948 1963 181 >"$tmp/years.csv"
	one "$program" quickstart "$tmp/short.csv" quickstart
	one "$program" fig1a "$tmp/short.csv" fig1a-authors
	one "$program" fig1c "$tmp/short.csv" fig1c-authors
	one "$program" adam "$tmp/short.csv" quickstart --set optimise.optimizer=adam --set schedule.batch=32 --set optimise.starts=1 --set predict.metric_rows=20
	one "$program" natural "$tmp/short.csv" quickstart --set optimise.optimizer=natural --set schedule.batch=32 --set optimise.starts=1 --prune-top 2 --then-refine 2 --then-inducing 12
	one "$program" diagonal "$tmp/short.csv" quickstart --set optimise.hyperparameters=diagonal --set data.outputs=100 --set 'posterior.auto_prune={below=0.05,wait=2,keep=2}'
	if [ -f "$data/series/01-airline.csv" ]; then
		one "$program" airline "$tmp/years.csv" airline
	fi
	if [ -f "$data/swissgrid/total-consumption-15min-2009-2014.csv.xz" ]; then
		{ echo utc_start; for h in 00 06 12 18; do echo "2012-03-0$((10#$h % 7 + 1)) $h:15"; done; } >"$tmp/stamps.csv"
		one "$program" swissgrid-small "$tmp/stamps.csv" swissgrid-small $small --set sparse.inducing=40 --set schedule.evaluate_every=0.25 --set schedule.steps=20
	fi
}

case ${2:-} in
--print) all "$program" ;;
--against)
	all "$(realpath "$3")" >"$tmp/expected"
	all "$program" >"$tmp/got"
	diff "$tmp/expected" "$tmp/got" && echo "all $(wc -l <"$tmp/got") files are as those of $3"
	;;
*)
	sed '1,/^__HASHES__$/d' "$0" >"$tmp/expected"
	all "$program" >"$tmp/got"
	# Runs whose data are not here are left out, and that is said.
	for name in $(sed 's|.*  \([^/]*\)/.*|\1|' "$tmp/expected" | uniq); do
		grep -q "  $name/" "$tmp/got" || { echo "left out: $name (set KESTREL_DATA)"; sed -i "\|  $name/|d" "$tmp/expected"; }
	done
	diff "$tmp/expected" "$tmp/got" && echo "all $(wc -l <"$tmp/got") files are as they were"
	;;
esac
exit
__HASHES__
98e23ec994a9bc1d932341bd6f2927d21996631aa8690cdc60c607908ef8be41  quickstart/run/posterior.csv
a5f16340ed58e41aa25cdb8c6f37ea40960062da261fb865bf662160406ead6e  quickstart/run/kernels.csv
fecfc5271d067b3307321a99d98d4d051ca638b97e449b31143fc31c3fe69e39  quickstart/metrics
a5f16340ed58e41aa25cdb8c6f37ea40960062da261fb865bf662160406ead6e  quickstart/export/kernels.csv
fecfc5271d067b3307321a99d98d4d051ca638b97e449b31143fc31c3fe69e39  quickstart/export/metrics
98e23ec994a9bc1d932341bd6f2927d21996631aa8690cdc60c607908ef8be41  quickstart/export/posterior.csv
fc0c228127a15dafb2a8e82a2820e409c5b33ae7f0aa704eadce42789b3a5b1e  quickstart/predictions.csv
51a0455f617eef53c21123cb56596a50db9f83f3ef7d9b4f53c994b763a63b64  quickstart/figures/quickstart-posterior.csv
f5590f0a546666c5cd8a1c740e785880e7727f35731ed881bf0b91034aaeac87  quickstart/figures/quickstart-posterior.png
d84ec736241c49f67b7a89c354d0a575d5affffad073dc6497db09b95f413816  quickstart/figures/quickstart-posterior.svg
47ff33c73b9dc038471aa959aa47b3266d6dcf598ad392ae41e017c41901701f  fig1a/run/posterior.csv
e281d809b21dfa1e5a99df6ab3295912633a598c4dd344dc425d829b717ca338  fig1a/run/kernels.csv
7a0952e92b03b4ec246626c5db9870ada052d711a9e8d74aa3c360c69a7d970a  fig1a/metrics
e281d809b21dfa1e5a99df6ab3295912633a598c4dd344dc425d829b717ca338  fig1a/export/kernels.csv
7a0952e92b03b4ec246626c5db9870ada052d711a9e8d74aa3c360c69a7d970a  fig1a/export/metrics
47ff33c73b9dc038471aa959aa47b3266d6dcf598ad392ae41e017c41901701f  fig1a/export/posterior.csv
7b3564ff924b4960eef406c0fa3660b29bb5d6e296e1d98ffc47f4da9a52f83e  fig1a/predictions.csv
3399e35852d78095d5f9a8fa96b13bae9a15127598376b2a9c124d7cf5b23a23  fig1a/figures/fig1a-posterior.csv
6c6bf551315a9533fb31265cf2b4dda1a5076bcca706149c395dd281312ae5ad  fig1a/figures/fig1a-posterior.png
ed29b1122bc27e6204fa321765751357fc39c8e2be4b0c349aeb33fc2c74d6ce  fig1a/figures/fig1a-posterior.svg
82f55f3f7fbe40517cadf6066caac4bff45b370a430923ac4cfa0dc4223535d4  fig1c/run/posterior.csv
0c94a9b2d1393712f3412771272ade45de518d54c0b965c144867872b133c95a  fig1c/run/kernels.csv
704d5220b41f8cd02d9a70692a717465c7fd935a4ac3999bd724416d0a3d77cd  fig1c/metrics
0c94a9b2d1393712f3412771272ade45de518d54c0b965c144867872b133c95a  fig1c/export/kernels.csv
704d5220b41f8cd02d9a70692a717465c7fd935a4ac3999bd724416d0a3d77cd  fig1c/export/metrics
82f55f3f7fbe40517cadf6066caac4bff45b370a430923ac4cfa0dc4223535d4  fig1c/export/posterior.csv
cdef2396c41a6572824cb5806133101ba5e30672de2c40605f0eab6c3f169129  fig1c/predictions.csv
b1d834e0f559773d702671937dedd3b69a25810cc479eb7ce48406db46b5dc20  fig1c/figures/fig1c-posterior.csv
c8c7f7486229a6d21d0e3d8994d7349fe0c0c234ebc701a600521ac092582336  fig1c/figures/fig1c-posterior.png
39536c0e0ddca96f55110888d78315229a6cf6c02e1a89abe5ac01cb35b8fa67  fig1c/figures/fig1c-posterior.svg
f3326ff237882669efd20d4eaf1368e7e1ae7042f30d6650e13cf08e969c7e3a  adam/run/posterior.csv
abbb43723a0403c4c2f4b95907676e496cdfbd5cbfa018bea61f4b3b192eeecd  adam/run/kernels.csv
e188f78ea5735d3ae61d37050d0c50f03bac6032770928f0d66fdf424c9e4faf  adam/metrics
abbb43723a0403c4c2f4b95907676e496cdfbd5cbfa018bea61f4b3b192eeecd  adam/export/kernels.csv
e188f78ea5735d3ae61d37050d0c50f03bac6032770928f0d66fdf424c9e4faf  adam/export/metrics
f3326ff237882669efd20d4eaf1368e7e1ae7042f30d6650e13cf08e969c7e3a  adam/export/posterior.csv
14d83aad09e50d20fa1165560eca2fac50f6799d229dfad6ac362e7320d3331c  adam/predictions.csv
03f74aa07ab58768ae0a6788df1f0b0726fd306a32b10289dc0440b7cc6b3c2b  adam/figures/quickstart-posterior.csv
02fe303e59dde5e032e0064ed4c3d97041ac7dea910b70646d46affccc086e29  adam/figures/quickstart-posterior.png
9ecd6201619d854e8eb38451ae347a365aae5cdc6078a3304071949e926bb46d  adam/figures/quickstart-posterior.svg
26460164d53387ad75ef5ed77d7d1c43bc3f0634f97d08201a748af8bf53c4d5  natural/run/posterior.csv
d10bce348436d138423991198aa0bf2d2c0f14963744e928a953cdd2f0532cc0  natural/run/kernels.csv
eb2dc5577aeeae7ab8cd0b2688c6bde9171090fb7a69871af06546dacd16a38b  natural/metrics
d10bce348436d138423991198aa0bf2d2c0f14963744e928a953cdd2f0532cc0  natural/export/kernels.csv
eb2dc5577aeeae7ab8cd0b2688c6bde9171090fb7a69871af06546dacd16a38b  natural/export/metrics
26460164d53387ad75ef5ed77d7d1c43bc3f0634f97d08201a748af8bf53c4d5  natural/export/posterior.csv
8855205e459143a8d3758a9b11aa181474e9abdce6489b04d7a3cafcc3c918c1  natural/predictions.csv
db3119484e85a759c7ae3233a241b452afed764e195d7039d34b92b911c6ee6b  natural/figures/quickstart-posterior.csv
abc48fd6728ae278b4dfa1ec42b456c3777a69c5306563c091da507dfbe995ad  natural/figures/quickstart-posterior.png
530a14913d331e452d90c0c20ed7580a464034a7183cb6cc32443b9959a0b81d  natural/figures/quickstart-posterior.svg
69bacc1dace466100664409545046b22be5228970ecb7e646724c7fe0472bdda  diagonal/run/posterior.csv
06b23243d8e31f79f56bc498fdb7dbce0a02cb0911a68d600521a18e932bc834  diagonal/run/kernels.csv
e42d590faef2806c2d2f04469d5a977ea7d390eae4573fc82c6c0f35d8b5d492  diagonal/metrics
06b23243d8e31f79f56bc498fdb7dbce0a02cb0911a68d600521a18e932bc834  diagonal/export/kernels.csv
e42d590faef2806c2d2f04469d5a977ea7d390eae4573fc82c6c0f35d8b5d492  diagonal/export/metrics
69bacc1dace466100664409545046b22be5228970ecb7e646724c7fe0472bdda  diagonal/export/posterior.csv
4e2b5699a529698cde19afbb1a8cd8524bae31acc19ca0e5797f40944f1d14bb  diagonal/predictions.csv
dce91545ec2153bddac8fbc708592bc9ee24a5a478ccc7ebcefa5b0cec00b7ba  diagonal/figures/quickstart-posterior.csv
2bd529a0eec483289dff4faf21a0b5c3cfde500a21076384268c0d01a134c3a3  diagonal/figures/quickstart-posterior.png
8d63292b67eeace4f6665145449b4c35a7db8da9d76dce4e691d6a6b99b35c5e  diagonal/figures/quickstart-posterior.svg
3540aca2f96f6c3f18b0dfbacefbca2cd12ac4c1798408c258b503a5a6ad4800  airline/run/posterior.csv
941507bda1075a13ba941bb6c3465ed04618a46b256f9e54b626497978b41101  airline/run/kernels.csv
9c8e1a6b36487ddfd57864eb7567425085ad4cb2345a91e0ac9aa0616ba25efb  airline/metrics
941507bda1075a13ba941bb6c3465ed04618a46b256f9e54b626497978b41101  airline/export/kernels.csv
9c8e1a6b36487ddfd57864eb7567425085ad4cb2345a91e0ac9aa0616ba25efb  airline/export/metrics
3540aca2f96f6c3f18b0dfbacefbca2cd12ac4c1798408c258b503a5a6ad4800  airline/export/posterior.csv
baa340d5e1a103ce5699654e6f3cca444a7924c1898da6c85aa8b6342b896369  airline/predictions.csv
02c0be3479ed0b48f7bd7555b775c06971addbea9b2c0af34b16fc72e6ff2852  airline/figures/airline-posterior.csv
50c1a1ea32144989acfe95c4186003c2346dc387da2c9ee68edd9e36e73fc14e  airline/figures/airline-posterior.png
90d5841f42a493eb219f5b7adc508ce3b2ced272de080310231550b6e6a4234d  airline/figures/airline-posterior.svg
3976a89ce6ad161c55aff123985392fcd82976602d1d705c258b530af5a09d1b  swissgrid-small/run/posterior.csv
bcadff18ce4de1cb026bb0eb7950f4c907ac72a1513013e5d3396772038704c8  swissgrid-small/run/kernels.csv
e0080478687463e6b49c108b0369982cf121ba8d3c92cfea985b254e10698aff  swissgrid-small/metrics
bcadff18ce4de1cb026bb0eb7950f4c907ac72a1513013e5d3396772038704c8  swissgrid-small/export/kernels.csv
e0080478687463e6b49c108b0369982cf121ba8d3c92cfea985b254e10698aff  swissgrid-small/export/metrics
3976a89ce6ad161c55aff123985392fcd82976602d1d705c258b530af5a09d1b  swissgrid-small/export/posterior.csv
0a61257b915307268276ba376e4982c353f9ca6a1f5c923e54a3283f3f583bdf  swissgrid-small/predictions.csv
5389c209a1a64ad6fac2ccbe346cf52763c9a5141b154d937d4197182f06aac0  swissgrid-small/figures/swissgrid-small-posterior.csv
18d718a8df95046250cc94e662d912f9fe9dd74114f6e6684899266a1bd5b30b  swissgrid-small/figures/swissgrid-small-posterior.png
49723338449da848d433d7a80d5328863e9eb02420a5847c224e36eb013a2640  swissgrid-small/figures/swissgrid-small-posterior.svg

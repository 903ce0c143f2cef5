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
# axes are not times. The instruction set is fixed, for the device and, by GODEBUG,
# for what takes the machine's best, because levels differ in the last bits; the
# hashes hold for amd64 with AVX2 and are kept here, not in a test, since another
# compiler may fuse other operations. A change that means to change results prints
# new ones. Runs on data sets need $KESTREL_DATA.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export KESTREL_SIMD=avx2 GODEBUG=cpu.avx512f=off LC_ALL=C
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
cc6eaff0d5f5595bb4cde3383489c5f4969cbf8b304962f8a7445648d3a910d8  quickstart/run/posterior.csv
7e482dca17b7430ca35227c5a405581bba63c04ab71a4c87ce55928e3d161d27  quickstart/run/kernels.csv
f44ca05d4f09cca367841d40662f670650a6817fb101ee9f7ab2b0b0c622baf0  quickstart/metrics
5f2ec8941896121de33953afc52e4285f8d8e014785dd6dbc40a37a7e45ce113  quickstart/export/baselines.csv
7e482dca17b7430ca35227c5a405581bba63c04ab71a4c87ce55928e3d161d27  quickstart/export/kernels.csv
f44ca05d4f09cca367841d40662f670650a6817fb101ee9f7ab2b0b0c622baf0  quickstart/export/metrics
cc6eaff0d5f5595bb4cde3383489c5f4969cbf8b304962f8a7445648d3a910d8  quickstart/export/posterior.csv
bb3fb790279355e45066d4ad226904546cc53e63fb73135e636f05c9dabf8506  quickstart/predictions.csv
bda463ce1f100b8b3f8b22ef486bf69820cc72051fcb81d25011abcf5055914f  quickstart/figures/quickstart-posterior.csv
e0bed5a921b60f82721793534fad3f5f443fd7b7c9f69a0287405edd7fbb838d  quickstart/figures/quickstart-posterior.png
16dde0fbbf29a618bcfb2341d749109f9ee9b90acf0ae54c90a49e3a39bfd25e  quickstart/figures/quickstart-posterior.svg
2bf5505ec246e7572e868215ac9545300cab5623bf75d957dd0df3eb2ad78d72  fig1a/run/posterior.csv
976a9869ddf6586f847240b033f386a856f9430f3c4182673b2f0fc4fa844e42  fig1a/run/kernels.csv
ff5d3ccbd4a1447d086b1a42b8fba4bed6c4b3bc2b4dd62e25c6a3bd8f75b664  fig1a/metrics
0bba120c8a307d923a4ec0112b5fce1a8287592dd060138a35b06e65f8197b0b  fig1a/export/baselines.csv
976a9869ddf6586f847240b033f386a856f9430f3c4182673b2f0fc4fa844e42  fig1a/export/kernels.csv
ff5d3ccbd4a1447d086b1a42b8fba4bed6c4b3bc2b4dd62e25c6a3bd8f75b664  fig1a/export/metrics
2bf5505ec246e7572e868215ac9545300cab5623bf75d957dd0df3eb2ad78d72  fig1a/export/posterior.csv
0a1b14fd16c6025cffef513d2ee7a9e91de2db802d477f29a66b739f8a8f8f27  fig1a/predictions.csv
09110e9fb5efbab4f378bb6652ee984fd379c08a952248cd24ccd6e903c553ed  fig1a/figures/fig1a-authors-posterior.csv
d9bab06e55650e2ca0bac19a2dfc22420a1528ef34f86dc00b158ad505b99674  fig1a/figures/fig1a-authors-posterior.png
28fea829a7ed8011f330f0925fa57eecdc172b9f1914d75ce83338b826ff68ad  fig1a/figures/fig1a-authors-posterior.svg
cf29014ff897747abde4a441f61ee35db40b309c02b79aa6e836f3ac6ff64b8a  fig1c/run/posterior.csv
1a8b7636333c508a23d617083c2c6f4b2d383f6e39bda1052428e17f1fa53224  fig1c/run/kernels.csv
82c03abd49fa6d7f14f98adaadd0cccc61b14f2b8f51fc962154e6b9e6e48e4c  fig1c/metrics
841aac9de1ad82f5ac86bcff0d7b86afd29d60de2ffd09a3ff928497767759ac  fig1c/export/baselines.csv
1a8b7636333c508a23d617083c2c6f4b2d383f6e39bda1052428e17f1fa53224  fig1c/export/kernels.csv
82c03abd49fa6d7f14f98adaadd0cccc61b14f2b8f51fc962154e6b9e6e48e4c  fig1c/export/metrics
cf29014ff897747abde4a441f61ee35db40b309c02b79aa6e836f3ac6ff64b8a  fig1c/export/posterior.csv
c3cf8400c34c9d69b921ef1827add2a0afbbc5be7532c7f447cc5d5b9a5c4da6  fig1c/predictions.csv
ab4b72a7cc29c2c4aa4b071f65cd5bd8acf0cecd2a93d87fe82b69036f8be298  fig1c/figures/fig1c-authors-posterior.csv
fdbe3fdfac02d66b02f18f6396dfbc45b37a3a4def548a23dee7e873ce805a87  fig1c/figures/fig1c-authors-posterior.png
c5ea87707390c8267a58f2ba105ca3aacd4fbecd8b14f28d6f90ad6e881f7c2e  fig1c/figures/fig1c-authors-posterior.svg
b2eb52aab3b67ea524d2ae74d15a24b68c5bf68457aa0479845a9d4de13e3f49  adam/run/posterior.csv
f0b9bbda8065a9b354c6561c403b30636ceb39282762c9dcba528e5921c0779f  adam/run/kernels.csv
48ab79dc1669c92f24e524e3e57993bf5c2b01a103cc3ee1cbe55878666a4a50  adam/metrics
896fd7b98964b9d7e680b7564c346725e80e6dc727c24f3a0a18fccfec2ebfff  adam/export/baselines.csv
f0b9bbda8065a9b354c6561c403b30636ceb39282762c9dcba528e5921c0779f  adam/export/kernels.csv
48ab79dc1669c92f24e524e3e57993bf5c2b01a103cc3ee1cbe55878666a4a50  adam/export/metrics
b2eb52aab3b67ea524d2ae74d15a24b68c5bf68457aa0479845a9d4de13e3f49  adam/export/posterior.csv
88b6a81cce258354722918e1516c781e6e1831828eb810d46e44d46e4b871756  adam/predictions.csv
5b33e1c69d4e7944dc466d8367e43abc2037ec016e9cba087cce8c259ddc63b9  adam/figures/quickstart-posterior.csv
eb567da29d1d31f6e468986d8e04f88dc667b39e4747d4c91f523ec1fcaccf48  adam/figures/quickstart-posterior.png
4e394cce29e9074055999dca4b539076a9e9ba20db20e5f1ffaeb5c95fd8474a  adam/figures/quickstart-posterior.svg
d4c6f88dced6d2a50529e9f3a4466288aa4e78bc1324e3bead25c946b8deaecb  natural/run/posterior.csv
f08f988f21cce6efa68d5f3bfdb353586d62a0d04347e879276dd8ba13b76087  natural/run/kernels.csv
e913351aabb7da1a2ffe6bb560fdf3f52130179ecf33478ec1647c3cf783d878  natural/metrics
9b0f8936c9bcad1ad26c94122feb33d71b8153eee296d6918e063d1a1ea0a80e  natural/export/baselines.csv
f08f988f21cce6efa68d5f3bfdb353586d62a0d04347e879276dd8ba13b76087  natural/export/kernels.csv
e913351aabb7da1a2ffe6bb560fdf3f52130179ecf33478ec1647c3cf783d878  natural/export/metrics
d4c6f88dced6d2a50529e9f3a4466288aa4e78bc1324e3bead25c946b8deaecb  natural/export/posterior.csv
365194784bd6cfca499c32ac457bfcfabc16463d059ef0506d670ca648097ce2  natural/predictions.csv
37f0b734ea5e1703bbd106a6188b6121aa311fbea521add8b92ac5a12ff60392  natural/figures/quickstart-posterior.csv
17b6cf1b1cc3c6a88be1df62aafdc554b3b418bb00557c47d1b95b20b152e23b  natural/figures/quickstart-posterior.png
a62cfa54e839f0cedf3991188618c4b410ce873f4d075bed8d6e1f751a52b9fd  natural/figures/quickstart-posterior.svg
8f76dbb289002401aabf7f40565c4c4aeb807d50ca7be691ae401e9477280cf0  diagonal/run/posterior.csv
85d8dfebb8becbcac5ca3011f4752eedb99630ecfbd15b29bd382823e558d4b5  diagonal/run/kernels.csv
13841a71356d9479300a5cac985f8ec201a13d626e91d59aafdd252734d35fe9  diagonal/metrics
86503361b063a1b1dd06a6702d79f1ea2f568bf59ebb98695ccdd5449239fe41  diagonal/export/baselines.csv
85d8dfebb8becbcac5ca3011f4752eedb99630ecfbd15b29bd382823e558d4b5  diagonal/export/kernels.csv
13841a71356d9479300a5cac985f8ec201a13d626e91d59aafdd252734d35fe9  diagonal/export/metrics
8f76dbb289002401aabf7f40565c4c4aeb807d50ca7be691ae401e9477280cf0  diagonal/export/posterior.csv
10655b212f58f1c73b558ead8958595fec38fff369a009441856b9cb912ba916  diagonal/predictions.csv
c6f8639897e610801867b34832d947cf324962bf08683a78d0672b7d343aeb1f  diagonal/figures/quickstart-posterior.csv
d3c945c61750b837a8d46a1721326007187707d1ed2b6b5e27b32704ae8e2f58  diagonal/figures/quickstart-posterior.png
ac2a48959f205f3e216163483800324bad8e711b49d0da356a234a268f794eaf  diagonal/figures/quickstart-posterior.svg
c2aeb2232b2e226c51317df99fe26aee1f22f1493161104baeb59154f065e6d8  airline/run/posterior.csv
b6f61176462fce7eb69f016c2812184e8520d38662976fe6b959e0b9e42529d3  airline/run/kernels.csv
5c1f0fa91ff674fd8f5b0e3ab8f90a87ffc58ab30d300d244f4a5a289b5f74cc  airline/metrics
2cf7c219533dd828a4bbb65997b3df86422090840a7dac3e416373f49b44441c  airline/export/baselines.csv
b6f61176462fce7eb69f016c2812184e8520d38662976fe6b959e0b9e42529d3  airline/export/kernels.csv
5c1f0fa91ff674fd8f5b0e3ab8f90a87ffc58ab30d300d244f4a5a289b5f74cc  airline/export/metrics
c2aeb2232b2e226c51317df99fe26aee1f22f1493161104baeb59154f065e6d8  airline/export/posterior.csv
1a58ef30087f970f6712127a6387d10a08d1e1aebfd332c176e65cd59c7e42b6  airline/predictions.csv
d8ebe721f6d928c5b577cadb6382a9410e051975d7582edc9ae2a981a53e6296  airline/figures/airline-posterior.csv
b424a13e2098ac7e27c277b90a581ddd82e1d94beff9181c58e37dd1ba2e8d1a  airline/figures/airline-posterior.png
de43aaf988aeb8dc3778d61d45b26a2c517b891a34d350d979ac2b72e73d9fbd  airline/figures/airline-posterior.svg
b1bfc8a2f924702b5a26d3ad91e99b235b1001c37c23606260f703e106167b9d  swissgrid-small/run/posterior.csv
714a7a6d9463e65b95c4df48d52885a0ea9b2d7c1346e043520d87507c33afd3  swissgrid-small/run/kernels.csv
37ddcc19a6ba58bd53f8142a07f7cab100dbef7214a8cfb3713972055b82637a  swissgrid-small/metrics
0dcf3cc4db2df6928e9c698a305e0a3fa677a4f88a5bb5e15ea9f7f451236ce6  swissgrid-small/export/baselines.csv
714a7a6d9463e65b95c4df48d52885a0ea9b2d7c1346e043520d87507c33afd3  swissgrid-small/export/kernels.csv
37ddcc19a6ba58bd53f8142a07f7cab100dbef7214a8cfb3713972055b82637a  swissgrid-small/export/metrics
b1bfc8a2f924702b5a26d3ad91e99b235b1001c37c23606260f703e106167b9d  swissgrid-small/export/posterior.csv
51dec0055ddb7196b0d922ea457bbe3ce5702b546ec6e56dc25d9fc58b24b1a9  swissgrid-small/predictions.csv
89081aa6d4b197ab89112d8b6a8e9ecc99b68c3c969d9d55e1266e43819b8e7a  swissgrid-small/figures/swissgrid-small-posterior.csv
13c506c5108cdef2734fda094776da3e147a585275bdf67ac3059fa83fa00ddb  swissgrid-small/figures/swissgrid-small-posterior.png
416a4b3aff4e8da60acbbb910bc236388b012612ee390e7de8b2e23d85e57865  swissgrid-small/figures/swissgrid-small-posterior.svg

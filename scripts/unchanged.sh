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
99bd4f3e9dfa8b2c643fb29074d5bd71761f1b43d79d6d9f7665746052a7b69e  quickstart/run/posterior.csv
a5f16340ed58e41aa25cdb8c6f37ea40960062da261fb865bf662160406ead6e  quickstart/run/kernels.csv
f1b3f2eff60d46dd8fcb3c624e70e03890f64fa12e2daf497277ac382817f050  quickstart/metrics
04eaa017a7643061882bd07d6a82fc6379bb1dedd86a1caa22ef0c8d40633e92  quickstart/export/baselines.csv
a5f16340ed58e41aa25cdb8c6f37ea40960062da261fb865bf662160406ead6e  quickstart/export/kernels.csv
f1b3f2eff60d46dd8fcb3c624e70e03890f64fa12e2daf497277ac382817f050  quickstart/export/metrics
99bd4f3e9dfa8b2c643fb29074d5bd71761f1b43d79d6d9f7665746052a7b69e  quickstart/export/posterior.csv
f8cbece881f10191b416e6c05bca8c2773275c39f5a13255ad5e46e2a1640844  quickstart/predictions.csv
c39e6a233e36297f93c4641289f9c79fc9e21c0981ef7fb7f5a14cd7f75f81a5  quickstart/figures/quickstart-posterior.csv
40a63d5b2a435df85d15e1c55032df9e2bb46809959c13390941d1fdee108606  quickstart/figures/quickstart-posterior.png
50af6f6308351923359883394bf713f0361aed827ca87fce6d00b4cd97f42e5a  quickstart/figures/quickstart-posterior.svg
47ff33c73b9dc038471aa959aa47b3266d6dcf598ad392ae41e017c41901701f  fig1a/run/posterior.csv
e281d809b21dfa1e5a99df6ab3295912633a598c4dd344dc425d829b717ca338  fig1a/run/kernels.csv
5844f233156ecaba4425c36ba4932ae364ebb75fba9e99016c6ed56bc8f2ff74  fig1a/metrics
7b7b7896ae752fb0d65daf77319414a0ad4f7f4d968865f8791834f2898cd20d  fig1a/export/baselines.csv
e281d809b21dfa1e5a99df6ab3295912633a598c4dd344dc425d829b717ca338  fig1a/export/kernels.csv
5844f233156ecaba4425c36ba4932ae364ebb75fba9e99016c6ed56bc8f2ff74  fig1a/export/metrics
47ff33c73b9dc038471aa959aa47b3266d6dcf598ad392ae41e017c41901701f  fig1a/export/posterior.csv
7b3564ff924b4960eef406c0fa3660b29bb5d6e296e1d98ffc47f4da9a52f83e  fig1a/predictions.csv
3399e35852d78095d5f9a8fa96b13bae9a15127598376b2a9c124d7cf5b23a23  fig1a/figures/fig1a-authors-posterior.csv
62b504305917a410bbde5e36ff41d6e9b93c707ad76f3549ae9c7365e0a15df6  fig1a/figures/fig1a-authors-posterior.png
036358326f0497bc7e37b51006d19d4da1de4f5ee4cc09f99374052ad9724b81  fig1a/figures/fig1a-authors-posterior.svg
82f55f3f7fbe40517cadf6066caac4bff45b370a430923ac4cfa0dc4223535d4  fig1c/run/posterior.csv
0c94a9b2d1393712f3412771272ade45de518d54c0b965c144867872b133c95a  fig1c/run/kernels.csv
e48db1f396e0f02495d8e9b24876386e0fcc2a034f85c9a09e4d020e92d9b768  fig1c/metrics
51108e4fca94059f9c0de21402ed0d58ab01c0c60009fe414f1be1f673950b52  fig1c/export/baselines.csv
0c94a9b2d1393712f3412771272ade45de518d54c0b965c144867872b133c95a  fig1c/export/kernels.csv
e48db1f396e0f02495d8e9b24876386e0fcc2a034f85c9a09e4d020e92d9b768  fig1c/export/metrics
82f55f3f7fbe40517cadf6066caac4bff45b370a430923ac4cfa0dc4223535d4  fig1c/export/posterior.csv
cdef2396c41a6572824cb5806133101ba5e30672de2c40605f0eab6c3f169129  fig1c/predictions.csv
b1d834e0f559773d702671937dedd3b69a25810cc479eb7ce48406db46b5dc20  fig1c/figures/fig1c-authors-posterior.csv
998365ec566704637ee28eb08b672ea6d50e7b90ce694b5895538b5feaeaeec8  fig1c/figures/fig1c-authors-posterior.png
7d1c3c1397b5593f8b42aadaf13ba05f5d5445039579a3dc7be0efa34108c6a5  fig1c/figures/fig1c-authors-posterior.svg
90c324cfdcda8f04c706c6930fa04240f4d75192ec7b0e2ac00a8429d8d9ee62  adam/run/posterior.csv
abbb43723a0403c4c2f4b95907676e496cdfbd5cbfa018bea61f4b3b192eeecd  adam/run/kernels.csv
c2c69f5679466c692ace5c3a81081838bee60940c4af28138ad4a7013df8f60e  adam/metrics
80bc3e6c7ad4974cce3785829507b03e6b7b3a9d94f700eefd1ce78ce147c516  adam/export/baselines.csv
abbb43723a0403c4c2f4b95907676e496cdfbd5cbfa018bea61f4b3b192eeecd  adam/export/kernels.csv
c2c69f5679466c692ace5c3a81081838bee60940c4af28138ad4a7013df8f60e  adam/export/metrics
90c324cfdcda8f04c706c6930fa04240f4d75192ec7b0e2ac00a8429d8d9ee62  adam/export/posterior.csv
14d83aad09e50d20fa1165560eca2fac50f6799d229dfad6ac362e7320d3331c  adam/predictions.csv
5a8557a74e83cf0f0826157cc48587746aed7602917c6211adef94525566379a  adam/figures/quickstart-posterior.csv
639cddb5ee173eba29af246661c7793b590bc022e35c8248cd30ed2dac2d04ac  adam/figures/quickstart-posterior.png
68614ca64577be9f318cfa0b39e02eb727a8c6145d70f9104eff1ca2e049c77e  adam/figures/quickstart-posterior.svg
b7a4210b47c6cce8a07a600c7844efbfbe9b628c329f616e6b92b34ce925c7c6  natural/run/posterior.csv
d10bce348436d138423991198aa0bf2d2c0f14963744e928a953cdd2f0532cc0  natural/run/kernels.csv
3b8e417682071031312bb3a1d9e7a5c1d345afd32c27868fb01d40a2552a3d8a  natural/metrics
33809ffabbfef429bad8bdf1e831bb84bf18a24915b83b5c09cbb119352b2ebf  natural/export/baselines.csv
d10bce348436d138423991198aa0bf2d2c0f14963744e928a953cdd2f0532cc0  natural/export/kernels.csv
3b8e417682071031312bb3a1d9e7a5c1d345afd32c27868fb01d40a2552a3d8a  natural/export/metrics
b7a4210b47c6cce8a07a600c7844efbfbe9b628c329f616e6b92b34ce925c7c6  natural/export/posterior.csv
8855205e459143a8d3758a9b11aa181474e9abdce6489b04d7a3cafcc3c918c1  natural/predictions.csv
052a58e3266dcdd1b0293f89b4554cd659eeec76f9fbdfd9bae10432e14eb7cb  natural/figures/quickstart-posterior.csv
f6d4b3b8c7d40ba3327a6788d0e4455c86556df34c706e06aaccb112c11325c7  natural/figures/quickstart-posterior.png
8a6d2f0af191cedbbbe83945d8b1c68e4ab200a86f325feb86851057c82be822  natural/figures/quickstart-posterior.svg
69bacc1dace466100664409545046b22be5228970ecb7e646724c7fe0472bdda  diagonal/run/posterior.csv
06b23243d8e31f79f56bc498fdb7dbce0a02cb0911a68d600521a18e932bc834  diagonal/run/kernels.csv
59f6b0fd667502dbd17b2ab02d467d4bde6a603d336386bc95e34617a01a96ad  diagonal/metrics
f5de34a989d17ddb27da7f3a23ce0f89129a7e068f32b1a667e98bfb872a1481  diagonal/export/baselines.csv
06b23243d8e31f79f56bc498fdb7dbce0a02cb0911a68d600521a18e932bc834  diagonal/export/kernels.csv
59f6b0fd667502dbd17b2ab02d467d4bde6a603d336386bc95e34617a01a96ad  diagonal/export/metrics
69bacc1dace466100664409545046b22be5228970ecb7e646724c7fe0472bdda  diagonal/export/posterior.csv
4e2b5699a529698cde19afbb1a8cd8524bae31acc19ca0e5797f40944f1d14bb  diagonal/predictions.csv
dce91545ec2153bddac8fbc708592bc9ee24a5a478ccc7ebcefa5b0cec00b7ba  diagonal/figures/quickstart-posterior.csv
2bd529a0eec483289dff4faf21a0b5c3cfde500a21076384268c0d01a134c3a3  diagonal/figures/quickstart-posterior.png
8d63292b67eeace4f6665145449b4c35a7db8da9d76dce4e691d6a6b99b35c5e  diagonal/figures/quickstart-posterior.svg
2bf762f3d2f5974ec30446d39f72c97a201a06f78e69433f88a13ab0b7877d18  airline/run/posterior.csv
dc907e5d72d7bed07a113741dbf3c3f7afb4958129223af1ff25c4ff886eaad9  airline/run/kernels.csv
308cb61c2350b9e43fa147521e6430f3097f6ca39dbe97229e8b8601327a110a  airline/metrics
40aa27c04ad670f7f5ca6b830546dfd3534e6c3d3f2a931687417fa69020e2ab  airline/export/baselines.csv
dc907e5d72d7bed07a113741dbf3c3f7afb4958129223af1ff25c4ff886eaad9  airline/export/kernels.csv
308cb61c2350b9e43fa147521e6430f3097f6ca39dbe97229e8b8601327a110a  airline/export/metrics
2bf762f3d2f5974ec30446d39f72c97a201a06f78e69433f88a13ab0b7877d18  airline/export/posterior.csv
14a749d4c1eea82385274e9a59ac9a1bd6969c67e022e6e5e7aeb49725b8b983  airline/predictions.csv
0735620e8b5baa1eb83731975f21342d6c91fdc32e3b74ef2e7b08c0cbe63423  airline/figures/airline-posterior.csv
d3b2bcd358a10992dc5e72caeba30687a4c2a327e1782b7fa2518a1d1c5cb0bc  airline/figures/airline-posterior.png
771fa70ef4bfbe767b985b2e1809684b00c050612a671720c9c3d7144daf0df6  airline/figures/airline-posterior.svg
c2cd4d13a2996cf0401d035aff6cf225e1bde92b41274aa6badd8db17932f7b1  swissgrid-small/run/posterior.csv
3242971f534c32dee50c8f10a83729b9ec5301ddbeecee2d2083e8999995f28e  swissgrid-small/run/kernels.csv
7898df5140558c565e38b190f741696522112cdd25ba236b650dc98a3e757b50  swissgrid-small/metrics
c6c1367f6daaa7af4f0d6e14a1d308495cbf6def5b7796c76ccc676cf36b62d7  swissgrid-small/export/baselines.csv
3242971f534c32dee50c8f10a83729b9ec5301ddbeecee2d2083e8999995f28e  swissgrid-small/export/kernels.csv
7898df5140558c565e38b190f741696522112cdd25ba236b650dc98a3e757b50  swissgrid-small/export/metrics
c2cd4d13a2996cf0401d035aff6cf225e1bde92b41274aa6badd8db17932f7b1  swissgrid-small/export/posterior.csv
fc7f4caa0d104c891c6c24093cffd0f23af8b1b9c402838e904c6ed6f6ea85ea  swissgrid-small/predictions.csv
b9e5b535f2fa25d6f5ea271c37536aa9842cde9434bd6b91b411a331a8740dd9  swissgrid-small/figures/swissgrid-small-posterior.csv
fd82ec56de912b8786f490f1f72f3fdcd96c477b840afb9a3dd2a1b47764d9de  swissgrid-small/figures/swissgrid-small-posterior.png
8dcdb5e3770a679efb7d75f610f91a7b19f85e8b6977dd19c95242bf6096cca1  swissgrid-small/figures/swissgrid-small-posterior.svg

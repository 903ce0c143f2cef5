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
c6e4d7dd60d7f8f42d212686ea68bb9c174f87fb3c82e7efdc86bc244399cc53  quickstart/metrics
a5f16340ed58e41aa25cdb8c6f37ea40960062da261fb865bf662160406ead6e  quickstart/export/kernels.csv
c6e4d7dd60d7f8f42d212686ea68bb9c174f87fb3c82e7efdc86bc244399cc53  quickstart/export/metrics
99bd4f3e9dfa8b2c643fb29074d5bd71761f1b43d79d6d9f7665746052a7b69e  quickstart/export/posterior.csv
fc0c228127a15dafb2a8e82a2820e409c5b33ae7f0aa704eadce42789b3a5b1e  quickstart/predictions.csv
c39e6a233e36297f93c4641289f9c79fc9e21c0981ef7fb7f5a14cd7f75f81a5  quickstart/figures/quickstart-posterior.csv
40a63d5b2a435df85d15e1c55032df9e2bb46809959c13390941d1fdee108606  quickstart/figures/quickstart-posterior.png
50af6f6308351923359883394bf713f0361aed827ca87fce6d00b4cd97f42e5a  quickstart/figures/quickstart-posterior.svg
47ff33c73b9dc038471aa959aa47b3266d6dcf598ad392ae41e017c41901701f  fig1a/run/posterior.csv
e281d809b21dfa1e5a99df6ab3295912633a598c4dd344dc425d829b717ca338  fig1a/run/kernels.csv
7a0952e92b03b4ec246626c5db9870ada052d711a9e8d74aa3c360c69a7d970a  fig1a/metrics
e281d809b21dfa1e5a99df6ab3295912633a598c4dd344dc425d829b717ca338  fig1a/export/kernels.csv
7a0952e92b03b4ec246626c5db9870ada052d711a9e8d74aa3c360c69a7d970a  fig1a/export/metrics
47ff33c73b9dc038471aa959aa47b3266d6dcf598ad392ae41e017c41901701f  fig1a/export/posterior.csv
7b3564ff924b4960eef406c0fa3660b29bb5d6e296e1d98ffc47f4da9a52f83e  fig1a/predictions.csv
3399e35852d78095d5f9a8fa96b13bae9a15127598376b2a9c124d7cf5b23a23  fig1a/figures/fig1a-authors-posterior.csv
62b504305917a410bbde5e36ff41d6e9b93c707ad76f3549ae9c7365e0a15df6  fig1a/figures/fig1a-authors-posterior.png
036358326f0497bc7e37b51006d19d4da1de4f5ee4cc09f99374052ad9724b81  fig1a/figures/fig1a-authors-posterior.svg
82f55f3f7fbe40517cadf6066caac4bff45b370a430923ac4cfa0dc4223535d4  fig1c/run/posterior.csv
0c94a9b2d1393712f3412771272ade45de518d54c0b965c144867872b133c95a  fig1c/run/kernels.csv
704d5220b41f8cd02d9a70692a717465c7fd935a4ac3999bd724416d0a3d77cd  fig1c/metrics
0c94a9b2d1393712f3412771272ade45de518d54c0b965c144867872b133c95a  fig1c/export/kernels.csv
704d5220b41f8cd02d9a70692a717465c7fd935a4ac3999bd724416d0a3d77cd  fig1c/export/metrics
82f55f3f7fbe40517cadf6066caac4bff45b370a430923ac4cfa0dc4223535d4  fig1c/export/posterior.csv
cdef2396c41a6572824cb5806133101ba5e30672de2c40605f0eab6c3f169129  fig1c/predictions.csv
b1d834e0f559773d702671937dedd3b69a25810cc479eb7ce48406db46b5dc20  fig1c/figures/fig1c-authors-posterior.csv
998365ec566704637ee28eb08b672ea6d50e7b90ce694b5895538b5feaeaeec8  fig1c/figures/fig1c-authors-posterior.png
7d1c3c1397b5593f8b42aadaf13ba05f5d5445039579a3dc7be0efa34108c6a5  fig1c/figures/fig1c-authors-posterior.svg
90c324cfdcda8f04c706c6930fa04240f4d75192ec7b0e2ac00a8429d8d9ee62  adam/run/posterior.csv
abbb43723a0403c4c2f4b95907676e496cdfbd5cbfa018bea61f4b3b192eeecd  adam/run/kernels.csv
5b5d8589b11b905f0660e0227e8a7a02f69d06548375e0b71f4bb298dc361bd3  adam/metrics
abbb43723a0403c4c2f4b95907676e496cdfbd5cbfa018bea61f4b3b192eeecd  adam/export/kernels.csv
5b5d8589b11b905f0660e0227e8a7a02f69d06548375e0b71f4bb298dc361bd3  adam/export/metrics
90c324cfdcda8f04c706c6930fa04240f4d75192ec7b0e2ac00a8429d8d9ee62  adam/export/posterior.csv
14d83aad09e50d20fa1165560eca2fac50f6799d229dfad6ac362e7320d3331c  adam/predictions.csv
5a8557a74e83cf0f0826157cc48587746aed7602917c6211adef94525566379a  adam/figures/quickstart-posterior.csv
639cddb5ee173eba29af246661c7793b590bc022e35c8248cd30ed2dac2d04ac  adam/figures/quickstart-posterior.png
68614ca64577be9f318cfa0b39e02eb727a8c6145d70f9104eff1ca2e049c77e  adam/figures/quickstart-posterior.svg
b7a4210b47c6cce8a07a600c7844efbfbe9b628c329f616e6b92b34ce925c7c6  natural/run/posterior.csv
d10bce348436d138423991198aa0bf2d2c0f14963744e928a953cdd2f0532cc0  natural/run/kernels.csv
e0800465067e5673c55dbcc3ca679e674cde2809f1de2a74e47eea4e3bbaea75  natural/metrics
d10bce348436d138423991198aa0bf2d2c0f14963744e928a953cdd2f0532cc0  natural/export/kernels.csv
e0800465067e5673c55dbcc3ca679e674cde2809f1de2a74e47eea4e3bbaea75  natural/export/metrics
b7a4210b47c6cce8a07a600c7844efbfbe9b628c329f616e6b92b34ce925c7c6  natural/export/posterior.csv
8855205e459143a8d3758a9b11aa181474e9abdce6489b04d7a3cafcc3c918c1  natural/predictions.csv
052a58e3266dcdd1b0293f89b4554cd659eeec76f9fbdfd9bae10432e14eb7cb  natural/figures/quickstart-posterior.csv
f6d4b3b8c7d40ba3327a6788d0e4455c86556df34c706e06aaccb112c11325c7  natural/figures/quickstart-posterior.png
8a6d2f0af191cedbbbe83945d8b1c68e4ab200a86f325feb86851057c82be822  natural/figures/quickstart-posterior.svg
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
22f093eefe3a2653dd68429ae0db719a551f73a066dc79dcdd5d226869d390a9  swissgrid-small/run/posterior.csv
3daee8afedb055c5c4ab98759cb6686d94bd63163bba00d52683598248e8ab5d  swissgrid-small/run/kernels.csv
028b52bc27d0c00450acdaf5b78c0379cdb1f67c25c1d1da64f7cd16e126ec00  swissgrid-small/metrics
3daee8afedb055c5c4ab98759cb6686d94bd63163bba00d52683598248e8ab5d  swissgrid-small/export/kernels.csv
028b52bc27d0c00450acdaf5b78c0379cdb1f67c25c1d1da64f7cd16e126ec00  swissgrid-small/export/metrics
22f093eefe3a2653dd68429ae0db719a551f73a066dc79dcdd5d226869d390a9  swissgrid-small/export/posterior.csv
65dd23871465cf17ed835c7446c84c57c2e7096f082c4f5969ad153d77fc3756  swissgrid-small/predictions.csv
cf05bf4910e481194184732f3fe6e741682779f81f263b982698ad6943752712  swissgrid-small/figures/swissgrid-small-posterior.csv
e733330740cb4db86d6db4542017485feb66ff4ed4f2ac60b5122778594bb02c  swissgrid-small/figures/swissgrid-small-posterior.png
a41a8f81b22b2a6f3e8d08d16f4c11dd836c5ecbb82d1d8de34f7119cfd59b16  swissgrid-small/figures/swissgrid-small-posterior.svg

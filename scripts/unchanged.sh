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
06cc3c12ffaefe03134125036a5d2012a31e7a222ebd947ce1d4b9c9c193abeb  quickstart/run/posterior.csv
13d7e4ea5610c1deb642a1c2d45f5054c9060c2ed95da211f43fb82c3ae08022  quickstart/run/kernels.csv
42c6675d91932f6f84ab63b4de541612a472b7ed47243430513f2173894ef2b7  quickstart/metrics
7b20ab42a8bfc3c0149f61724fa94c342fbe6109efbc5924d65a0a72367d2bff  quickstart/export/baselines.csv
13d7e4ea5610c1deb642a1c2d45f5054c9060c2ed95da211f43fb82c3ae08022  quickstart/export/kernels.csv
42c6675d91932f6f84ab63b4de541612a472b7ed47243430513f2173894ef2b7  quickstart/export/metrics
06cc3c12ffaefe03134125036a5d2012a31e7a222ebd947ce1d4b9c9c193abeb  quickstart/export/posterior.csv
241ec1a16e6d456f427d559207d218fb82c2a287bc82a1fd6ee42d9b7c6995a5  quickstart/predictions.csv
ffca61cf5e51ef1ac1cd4d04a903351113db124aaeafaecb586a143e0c66c1d7  quickstart/figures/quickstart-posterior.csv
564bf47ae843846a538b0c41acd98f28b0784c3b21105288915a7f14aa06b06a  quickstart/figures/quickstart-posterior.png
62935cc2cfb5733bb9f09299a8457fc7a49ebfe07ef5be3379d66bf94f08aaf1  quickstart/figures/quickstart-posterior.svg
7d7e50819d6853fb8c4272b5ea1d85638261103efd446c51c4bf7f242cdd8abe  fig1a/run/posterior.csv
1d8e0024087eb29db2ec6e06be92e129c361d4bfc7afa7b1de4c401f2f34bcda  fig1a/run/kernels.csv
fa75f3a0c2a806f4c8e66869aaf99422f4e7aee32c3edcbcc2e794b7fc8f810f  fig1a/metrics
ebae709c5db0d93144578b2d69bc90f6398129e609a653a55f337182eab60c45  fig1a/export/baselines.csv
1d8e0024087eb29db2ec6e06be92e129c361d4bfc7afa7b1de4c401f2f34bcda  fig1a/export/kernels.csv
fa75f3a0c2a806f4c8e66869aaf99422f4e7aee32c3edcbcc2e794b7fc8f810f  fig1a/export/metrics
7d7e50819d6853fb8c4272b5ea1d85638261103efd446c51c4bf7f242cdd8abe  fig1a/export/posterior.csv
6ca02baf8883c6869a12ff9081163594bfc3e75ecb3f16a153e4c324ce09f9f6  fig1a/predictions.csv
a8eb48c23ddb45cc224c63197cec5fcbd1f697b3d8e1420df8b04d80f974cf0a  fig1a/figures/fig1a-authors-posterior.csv
fc615c65309f58e0fed8e97c253fa794a709d75e442590c845efebaaa79df15a  fig1a/figures/fig1a-authors-posterior.png
66c89657f97aa46587a8a9c4d096cdc1df87bd396a6ec29faa1c8090199a8a3e  fig1a/figures/fig1a-authors-posterior.svg
0ffd771f2ae60920a2528cc377c8198a61475a3b9872dfd1ea8671991b236f1f  fig1c/run/posterior.csv
409677ea28719338ed5ba13ebce93d26640ed7828df76e6b30bbd2da75b399ca  fig1c/run/kernels.csv
46e7c649e6de30e5763a7ced2eff8994bdbc690c3e32b3cea84916d2e9d74eb0  fig1c/metrics
8574b90e89fac31d2c92b15ab597814ec8c952a52088859f8573ee1f2227ddd3  fig1c/export/baselines.csv
409677ea28719338ed5ba13ebce93d26640ed7828df76e6b30bbd2da75b399ca  fig1c/export/kernels.csv
46e7c649e6de30e5763a7ced2eff8994bdbc690c3e32b3cea84916d2e9d74eb0  fig1c/export/metrics
0ffd771f2ae60920a2528cc377c8198a61475a3b9872dfd1ea8671991b236f1f  fig1c/export/posterior.csv
3d8a2ccd95ad5682234bb0a2585648198679bc26c659b607b268ddebc3996a6e  fig1c/predictions.csv
f335ef8bcf9fa92fff93714532e2a67008eba05b8701fef5a6b0089f525a95cd  fig1c/figures/fig1c-authors-posterior.csv
31743e3ef5e96a0ac99dcb77865613a27d9cbf6a755fbaf99c0cba5f59580a59  fig1c/figures/fig1c-authors-posterior.png
60ea0c84b2346454dbc78388566d8990102c284873d07c34983eca6e40430063  fig1c/figures/fig1c-authors-posterior.svg
fd2de598da18503b5f42bfb7f23f3070e4a7ac1da589715626e9ec23e463cd0a  adam/run/posterior.csv
d7de9596284b0d79c19ed2c210b90f821058f9f172000925ac30f078ab9ba402  adam/run/kernels.csv
f4df051a2f537109a05d1dce84bc01eac1260e97b15c3a759895776330b7a6b4  adam/metrics
8aee3f9f3b5ffee3dc9ef2c1d04bbf450aa76895b8ee4055f2149b32032a8c23  adam/export/baselines.csv
d7de9596284b0d79c19ed2c210b90f821058f9f172000925ac30f078ab9ba402  adam/export/kernels.csv
f4df051a2f537109a05d1dce84bc01eac1260e97b15c3a759895776330b7a6b4  adam/export/metrics
fd2de598da18503b5f42bfb7f23f3070e4a7ac1da589715626e9ec23e463cd0a  adam/export/posterior.csv
592a07e7ebf2636bc1f2a8a53533135bd8b589bfb83e66e79a839a584be14d3d  adam/predictions.csv
119ff8dc84735e2a938be73f41d32b4e6054541a53d41ba6914d8a49bb3c2cc5  adam/figures/quickstart-posterior.csv
b353dd4cf6317cfb60aebd300f2248570f124dcc3687cf38c008bd0d7ba3d548  adam/figures/quickstart-posterior.png
b6fa556e9b41b9bf21dc6107ef19743a1afdf9c235f4e4ca4b394cb2e23e3ca8  adam/figures/quickstart-posterior.svg
2cdd40b1631e57fe4862c6a24f3c42d083e81d83f25a06e343dd1ecccfa52421  natural/run/posterior.csv
0ce0b4f9feeffdcb20c2e570ece7687e6ed3e510f19b79abb84e45f3e34ee7df  natural/run/kernels.csv
71b5533220f79d2fa988d99fd84f6ba15d63c1e97bac0bcc25be37d407446564  natural/metrics
5597a0c9b3d53f96a936ed125dbbf7cd4295976a1182128868148c84261419dd  natural/export/baselines.csv
0ce0b4f9feeffdcb20c2e570ece7687e6ed3e510f19b79abb84e45f3e34ee7df  natural/export/kernels.csv
71b5533220f79d2fa988d99fd84f6ba15d63c1e97bac0bcc25be37d407446564  natural/export/metrics
2cdd40b1631e57fe4862c6a24f3c42d083e81d83f25a06e343dd1ecccfa52421  natural/export/posterior.csv
af94c9c915efc03f767fe1c64ff157e73c06a8ceea801f4e36af61ba6cd15a08  natural/predictions.csv
6e48dc1dbca71d0b11b07025f8e31a7c87e1fc677d382368d095184c754c61cd  natural/figures/quickstart-posterior.csv
a439f3e1025b5ad3de5d412dc30ac6faf4075bb17ebe6dd9a6e0df169ea47ee4  natural/figures/quickstart-posterior.png
5f9e701e3dde1c25660297a60e5152b79813db9af6024fb862e424cdec9d1ba3  natural/figures/quickstart-posterior.svg
388b59fc0db5f34843e3fa8d40540d9f19008e0621a4e5bc01da398c22e754bc  diagonal/run/posterior.csv
370f636015ca5c09d44fcd55d6bb36c3f0a5f6230d34b56661548a80c3b1dccc  diagonal/run/kernels.csv
61c17003ab983f05afda8335c7f024f655133bd7c0427a59fa57ca6cd4bd9ef2  diagonal/metrics
6c3b35a3fefdb3ba1719e51b0b94b1adfec77f2cf873fdf41d9bc3e4b929e446  diagonal/export/baselines.csv
370f636015ca5c09d44fcd55d6bb36c3f0a5f6230d34b56661548a80c3b1dccc  diagonal/export/kernels.csv
61c17003ab983f05afda8335c7f024f655133bd7c0427a59fa57ca6cd4bd9ef2  diagonal/export/metrics
388b59fc0db5f34843e3fa8d40540d9f19008e0621a4e5bc01da398c22e754bc  diagonal/export/posterior.csv
5b29ecb5750d2127758d3d9a92cbfb9571fb3080ee8be857e42fa55022ee4655  diagonal/predictions.csv
5d8aa463075127474aa9b478e7c539101c3ecf531f135ad5fb9d52610978732b  diagonal/figures/quickstart-posterior.csv
5de0aa746940d06eea1af100951e881126461381e3330b27723346ffb62cbfb4  diagonal/figures/quickstart-posterior.png
84453c08e02b5434d5968609c747f76fd71e89c167ac55254aab6d10bd2d5afb  diagonal/figures/quickstart-posterior.svg
b9c5bcccfe768018855e696bc74da7313e8f8fdd83a1ad55c5eefc888fba27b6  airline/run/posterior.csv
85fa547145cb7baaae48f1329eb34da1d3303024d81b960d354a1dfe3fb65cdd  airline/run/kernels.csv
8c200eba3f4e8748cbb765dd7ef4e90fb27016f1d19a708c5346aadec78f7958  airline/metrics
5960b004c11d040fb295c43ff5bf6b385c80f4683a56dfa1f6e7f63766fcde06  airline/export/baselines.csv
85fa547145cb7baaae48f1329eb34da1d3303024d81b960d354a1dfe3fb65cdd  airline/export/kernels.csv
8c200eba3f4e8748cbb765dd7ef4e90fb27016f1d19a708c5346aadec78f7958  airline/export/metrics
b9c5bcccfe768018855e696bc74da7313e8f8fdd83a1ad55c5eefc888fba27b6  airline/export/posterior.csv
9da251e16893698c207d663cf8f76aef2c259716e9fb48c71df64f48e25cecb6  airline/predictions.csv
f005d461bb40ca16364850717e6886e5ceefef7879b838b542bcad6a55f21f8e  airline/figures/airline-posterior.csv
bb6231b4ab5b7dc020e17ee977bbd4ea20f5832612f53f4a74d9f637d88082b6  airline/figures/airline-posterior.png
3677e8654256d53afba0eca7449229165725b7ef4f1a0d9839f1680800e555b2  airline/figures/airline-posterior.svg
0fcf86fb50f4fdd67891b55b3c9ccc2a21f60a92ee0995d6b371602d5f5f03d1  swissgrid-small/run/posterior.csv
298a7dd6997113b5bf1522b9f1a9dad6b242d11298a1632c39ceb5fa9e272a37  swissgrid-small/run/kernels.csv
4bd2ddc19d6e5194f3390e85312da567d5cd840a01b14f27be1f8ae107b3c16d  swissgrid-small/metrics
f1bb32889f89fe5c0c9a0def9f3eac3a6c08cf3dcee805349f8dc7b2a99794ee  swissgrid-small/export/baselines.csv
298a7dd6997113b5bf1522b9f1a9dad6b242d11298a1632c39ceb5fa9e272a37  swissgrid-small/export/kernels.csv
4bd2ddc19d6e5194f3390e85312da567d5cd840a01b14f27be1f8ae107b3c16d  swissgrid-small/export/metrics
0fcf86fb50f4fdd67891b55b3c9ccc2a21f60a92ee0995d6b371602d5f5f03d1  swissgrid-small/export/posterior.csv
eb0c3352533daac0e96c858fc8afeb815c18d6853b75595905eb90d939c1801d  swissgrid-small/predictions.csv
f989a3fb664f7de610d030a65390a956c3ad8a56bec5318232ffd4a409c7be58  swissgrid-small/figures/swissgrid-small-posterior.csv
21688177f8b4174ca60a4d9855b0dc21a6a68c02ba84b498904cd942465d74fc  swissgrid-small/figures/swissgrid-small-posterior.png
5ba516bb32b7de3569e97f18c7163b4f1e4e32dc4cfa729fb6585f6e697f8d60  swissgrid-small/figures/swissgrid-small-posterior.svg

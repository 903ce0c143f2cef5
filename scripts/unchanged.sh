#!/usr/bin/env bash
# Whether a built kestrel computes and draws what commit ba78633 did, byte for
# byte: for a change that is to change no result.
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
	one "$program" fig1a "$tmp/short.csv" fig1a
	one "$program" fig1c "$tmp/short.csv" fig1c
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
cd7cbc317f4783ee06640943257c6e8516c6b58f77ee558f9e412ada37bd59e5  quickstart/run/posterior.csv
1e16bbf0f2abe40c9fe3b860d0a0f4db23a967b4cf6e2b4f3de9f6562f349e88  quickstart/run/kernels.csv
6d9e30fafcb1caaecb1f2615f67f5b8c7c1c5100342b6c04e68b967db097317f  quickstart/metrics
1e16bbf0f2abe40c9fe3b860d0a0f4db23a967b4cf6e2b4f3de9f6562f349e88  quickstart/export/kernels.csv
6d9e30fafcb1caaecb1f2615f67f5b8c7c1c5100342b6c04e68b967db097317f  quickstart/export/metrics
cd7cbc317f4783ee06640943257c6e8516c6b58f77ee558f9e412ada37bd59e5  quickstart/export/posterior.csv
9b22476bafb8daa276004a9560b887666dcb986b2449c7747a19b5d6f43ad45b  quickstart/predictions.csv
39d2529e9b6e51a6abf54102e62606ec2316e9e7f42c3b801a7d9df84453fcc6  quickstart/figures/quickstart-posterior.csv
edaf40a53cece4a702bea0dcec416460260f4ac2c104c3c9f18c7bf3fdfe8986  quickstart/figures/quickstart-posterior.png
bfe9841fc2bd773bbafd32a47c8404300383529f3124571d8981d419a4b45e53  quickstart/figures/quickstart-posterior.svg
3b6050c9139d30335911238d7cc9d86819429aebd4c2bfc95d3e3819b2dde2da  fig1a/run/posterior.csv
49f90c10dd59ea67a4fb372bddae03cf1575b41e3d8a249dcfe6d888d9a45cb8  fig1a/run/kernels.csv
9fd9698e71accd3a2746879e9888f48865043941da1a84a594f73f007c816d49  fig1a/metrics
49f90c10dd59ea67a4fb372bddae03cf1575b41e3d8a249dcfe6d888d9a45cb8  fig1a/export/kernels.csv
9fd9698e71accd3a2746879e9888f48865043941da1a84a594f73f007c816d49  fig1a/export/metrics
3b6050c9139d30335911238d7cc9d86819429aebd4c2bfc95d3e3819b2dde2da  fig1a/export/posterior.csv
dc47547f9aa460480e812951c3c8cb0bacf36fa0e9abf13f254952007c57404c  fig1a/predictions.csv
06219e0c5530c8d1ef0a4632efa90420559e5b60b5446289a81b5f0ec712e751  fig1a/figures/fig1a-posterior.csv
090618c3efc75165d4109873d2269a3f1c0c968fce9ffc6f6fae88e3d8930774  fig1a/figures/fig1a-posterior.png
171b8e6d6c52e083fd1807bba19899127b78cbe42117ca510c6e0019a9ff4a93  fig1a/figures/fig1a-posterior.svg
8f4da98676691b63fc5297ddcbc768d6d1a1d6e42c15b4017a0c2d5461016360  fig1c/run/posterior.csv
856945fc095d001a80faf9bf68c2d1673d7a2e630fffedbbe9d5f1099995bbf5  fig1c/run/kernels.csv
5b1b4238ab255c072c53b6a23c2559aba98729424e9ff44798f221af409423e2  fig1c/metrics
856945fc095d001a80faf9bf68c2d1673d7a2e630fffedbbe9d5f1099995bbf5  fig1c/export/kernels.csv
5b1b4238ab255c072c53b6a23c2559aba98729424e9ff44798f221af409423e2  fig1c/export/metrics
8f4da98676691b63fc5297ddcbc768d6d1a1d6e42c15b4017a0c2d5461016360  fig1c/export/posterior.csv
7b58a3b7c6d50589f8e01e8d2f03d933886b9fed5acea968b66baafbad828166  fig1c/predictions.csv
1f87578ed98fea5584af1fdac3d8f64111f92b43abac82070a76da28e83a1912  fig1c/figures/fig1c-posterior.csv
2d48e50bab4be4c44758ca7698ebe0f63dd283c7d5b202c840637d3e91469dcb  fig1c/figures/fig1c-posterior.png
fd976681fd2f60bf08d69c8d32be53cc1ff5c7bc9ab0e94bb2294fcb66ae96b9  fig1c/figures/fig1c-posterior.svg
88d3806ddbda3449423c3f404f58bef31bf31efd61246dd2c1ab1a476bb0ce6f  adam/run/posterior.csv
e80710a9247fed4e4b617622a3669da15ef8f1f430aa990e2d871f847117bee7  adam/run/kernels.csv
7648875bfc081f67b71eaf97023455a3d9cdb5fd381a4fcafdd93699af47e11d  adam/metrics
e80710a9247fed4e4b617622a3669da15ef8f1f430aa990e2d871f847117bee7  adam/export/kernels.csv
7648875bfc081f67b71eaf97023455a3d9cdb5fd381a4fcafdd93699af47e11d  adam/export/metrics
88d3806ddbda3449423c3f404f58bef31bf31efd61246dd2c1ab1a476bb0ce6f  adam/export/posterior.csv
2cd6a0e11f73fef7396bc4e9941c8969abae72041bec3bd54703a876d064dfc1  adam/predictions.csv
eba4468eb8c6e0371edf935c5712a9368c6c5b4803f02fe9c4d87fd29e12858e  adam/figures/quickstart-posterior.csv
6c372a8e900e939880aa7e125d66202926e71e246148b31b898282f0aac886e8  adam/figures/quickstart-posterior.png
95b1c071dcc031186dfe3defa7f28f0a657c4573814bea86a56e1e8d9e43c39f  adam/figures/quickstart-posterior.svg
75de091d3e62261c5ab13e4ca797a876fa000ad9f16e7fc0cf953a17a2677aef  natural/run/posterior.csv
95cea41ede817e894fd402aebad6787549c60dfff6a03d430b7104684fbc4cbf  natural/run/kernels.csv
9fc774928b7a710da72bf29f9e313ac604f4dd0789289d7dea60aa4e7e4e20f6  natural/metrics
95cea41ede817e894fd402aebad6787549c60dfff6a03d430b7104684fbc4cbf  natural/export/kernels.csv
9fc774928b7a710da72bf29f9e313ac604f4dd0789289d7dea60aa4e7e4e20f6  natural/export/metrics
75de091d3e62261c5ab13e4ca797a876fa000ad9f16e7fc0cf953a17a2677aef  natural/export/posterior.csv
e49d9583c598e3dcbd092fe5ed93ddb2546bb44dea3e60e95232f2eb9473a350  natural/predictions.csv
c39cad989b75ef008baaf6478e52e555138259e38b14dded83ce6db4213e2668  natural/figures/quickstart-posterior.csv
0041685f3f7e386a2f432611e3603cf3be5d5a7551ab8f07a4896cc1e6a657a7  natural/figures/quickstart-posterior.png
1fb935b21ab23889cb80fb2dee4a6df44466a8f3a5cc10fddc0d586adbb11b1e  natural/figures/quickstart-posterior.svg
4ca6a9c9074bef49df069b2304c3e499bf6cf64290c1c9262e2a84d46c5ae81e  diagonal/run/posterior.csv
54e5f3f6c04f987b0c5ff8351affd5bc5058af57b13a9c8ed54edc72666c4ca5  diagonal/run/kernels.csv
9f481a9dc64a55e7c29651887520cc3ac418eec56a50d907b93c537bf5389d39  diagonal/metrics
54e5f3f6c04f987b0c5ff8351affd5bc5058af57b13a9c8ed54edc72666c4ca5  diagonal/export/kernels.csv
9f481a9dc64a55e7c29651887520cc3ac418eec56a50d907b93c537bf5389d39  diagonal/export/metrics
4ca6a9c9074bef49df069b2304c3e499bf6cf64290c1c9262e2a84d46c5ae81e  diagonal/export/posterior.csv
a2ee384c64836ac289ef5975fa982d05e0962d10dff413f083a568b0ed5f4c81  diagonal/predictions.csv
7cac38ad093455e0a8f5117ad59cdb955ddf83f59a4f9b24297a1f2014fe185b  diagonal/figures/quickstart-posterior.csv
6f3598e2df9a6b130e01c7ec010cced1668d1af1924540145d144a4fd176088d  diagonal/figures/quickstart-posterior.png
99603219c52939a6c3445eaffbc334f0e9946a0842fb12a76d659cf07af157a6  diagonal/figures/quickstart-posterior.svg
311372edb21e94a279aad99848e7dc0273d0e39f8482bbaeaf8965d8063d96c3  airline/run/posterior.csv
b6595e225739ee58cf9cd28fd8e9886c94cc482d75be70922fc77add353e2136  airline/run/kernels.csv
396890973b2ddb16852f423c699154149e4770578c83aefe44c63dde96d4b829  airline/metrics
b6595e225739ee58cf9cd28fd8e9886c94cc482d75be70922fc77add353e2136  airline/export/kernels.csv
396890973b2ddb16852f423c699154149e4770578c83aefe44c63dde96d4b829  airline/export/metrics
311372edb21e94a279aad99848e7dc0273d0e39f8482bbaeaf8965d8063d96c3  airline/export/posterior.csv
5ceaae3429790aa68aca4cedea75652f7978740fdce6f7cab64ec861f8c48225  airline/predictions.csv
547716b2aea19ae1904b24b5ad69e0c46bb88ead01adfd5b8fe4791fe4c1d001  airline/figures/airline-posterior.csv
1c86859a11277e755cecbf879e4ad4268003da2ac2ba8e8d18437f099d0ba48b  airline/figures/airline-posterior.png
24f66f146b1c85a8f10517bae1d99890a03ebc9f0be39e1e03af08dcca5e1a65  airline/figures/airline-posterior.svg
058d68771b33112f4f4de8b9b3f75aa72c73eff5607f8fa7c22caf9d2c54bb77  swissgrid-small/run/posterior.csv
fc01e61b18dc82333b4f2f62162cbd8214555ad93f6319370433111e4b8005c2  swissgrid-small/run/kernels.csv
3ca8fc57b5dfbb62cc097e97445e617bb6644b48174711b6c04c11823f8bffca  swissgrid-small/metrics
fc01e61b18dc82333b4f2f62162cbd8214555ad93f6319370433111e4b8005c2  swissgrid-small/export/kernels.csv
3ca8fc57b5dfbb62cc097e97445e617bb6644b48174711b6c04c11823f8bffca  swissgrid-small/export/metrics
058d68771b33112f4f4de8b9b3f75aa72c73eff5607f8fa7c22caf9d2c54bb77  swissgrid-small/export/posterior.csv
019c2f7d6c73af9a2b84d0d98abd37703199f07c129e79e5bc336e20522d1fbe  swissgrid-small/predictions.csv
c4d8bb0b9d17932a193eff68030b29440ea21f372a141d51e8845b44119133c4  swissgrid-small/figures/swissgrid-small-posterior.csv
1bdca0ad5abd12ec528b4f87159c290fdfd411baff7894cbc3e0d4f4fcda1e32  swissgrid-small/figures/swissgrid-small-posterior.png
597af40f234a254aeb17eb4bce370bdfa64410f33f2a491573337b28657b6b4a  swissgrid-small/figures/swissgrid-small-posterior.svg

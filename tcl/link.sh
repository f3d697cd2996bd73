#!/bin/bash
# Hand-written: links the kernels of all networks that share a card.
#
#   vitis/link.sh [LINK_DIR [BUILD...]]
#
# LINK_DIR is made: vitis/link without it. BUILD are the folders of FINN's builds, in the order of floorflow.cfg;
# without them finn/NETWORK/build of the plan.
set -eu

stop() {
    echo "floorflow: $*" >&2
    exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
plan=$(dirname "$here")
config=$here/floorflow.cfg
link=${1:-$here/link}
[ $# -eq 0 ] || shift

# What the plan was made for is said in the configuration's first lines.
told() { sed -n "s/^# $1: //p" "$config"; }
builds=("$@")
if [ $# -eq 0 ]; then
    while IFS= read -r folder; do builds+=("$plan/$folder"); done < <(told build)
fi
[ "${#builds[@]}" -eq "$(told build | wc -l)" ] || stop "floorflow.cfg is of $(told build | wc -l) builds, not ${#builds[@]}"

# Kernels have the same ports as in the plan, or v++ would fail after hours, or join others.
kernels() { sed -n 's/^nk=\([^:]*\):.*/\1/p' "$config" | sort; }
# Units are called otherwise than kernels: each stream of the plan, by kernels.
streams() {
    awk -F'[=:.]' '/^nk=/ {kernel[$4] = $2}
        /^stream_connect=/ {print "stream_connect=" kernel[$2] "." $3 ":" kernel[$4] "." $5}' "$config" | sort
}
objects=()
for build in "${builds[@]}"; do
    [ -f "$build/kernels/connections.txt" ] || stop "$build holds no kernels; build its network first, as docs/several-networks.md says"
    objects+=("$(cd "$build/kernels" && pwd)"/*.xo)
done
[ "$(printf '%s\n' "${objects[@]##*/}" | sed 's/\.xo$//' | sort)" = "$(kernels)" ] || stop "FINN made other kernels than the plan's"
[ "$(for build in "${builds[@]}"; do cat "$build/kernels/connections.txt"; done | sort)" = "$(streams)" ] || stop "FINN joins its kernels otherwise than the plan"

command -v v++ >/dev/null || stop "v++ is not on the PATH; source Vitis' settings64.sh"
version=$(v++ --version | sed -n 's/.*v\([0-9][0-9]*\.[0-9]\).*/\1/p' | head -n 1)
case " $(told versions) " in
*" $version "*) ;;
*) stop "this is Vitis $version, FINN's kernels are of $(told versions)" ;;
esac

mkdir -p "$link"
link=$(cd "$link" && pwd)
sed -e "s#@REPORT@#$plan/vivado/floorflow_report.tcl#" "$config" >"$link/floorflow.cfg"
# Without a floorplan by the names of the linked cells SLRs alone place the kernels.
hook=$plan/fpga0/pblocks.tcl
if [ -f "$hook" ]; then
    sed -i "s#@HOOK@#$hook#" "$link/floorflow.cfg"
else
    sed -i "/@HOOK@/d" "$link/floorflow.cfg"
fi
[ ! -f "$link/a.xclbin" ] || mv "$link/a.xclbin" "$link/a.before.xclbin"
cd "$link"
v++ -t hw --platform "$(told platform)" --link "${objects[@]}" --kernel_frequency "$(told mhz)" \
    --config "$link/floorflow.cfg" --optimize 3 --save-temps -R2
[ -f "$link/a.xclbin" ] || stop "v++ made no a.xclbin; see the logs in $link"
xclbinutil --info --input "$link/a.xclbin" >"$link/floorflow_xclbin.info"
echo "floorflow: $link/a.xclbin holds the kernels of ${#builds[@]} networks"

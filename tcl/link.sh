#!/bin/bash
# Hand-written: links the kernels of all networks that share a card, or those of one of several cards.
#
#   vitis/link.sh [LINK_DIR [BUILD...]]
#   fpga0/link.sh AURORA_FOLDER [LINK_DIR]
#
# LINK_DIR is made: link/ beside this file without it. BUILD are the folders of FINN's builds, in the order of
# floorflow.cfg; without them finn/NETWORK/build of the plan. Before a card: in fpga0/finn, python build.py MODEL.onnx
# (FINN main); vivado -mode batch -source links/package.tcl. AURORA_FOLDER holds AuroraFlow's kernels, aurora_flow_0.xo,
# ... (USE_FRAMING=1 RX_FIFO_SIZE=8192).
set -eu

stop() {
    echo "floorflow: $*" >&2
    exit 2
}

here=$(cd "$(dirname "$0")" && pwd)
plan=$(dirname "$here")
card=
config=$here/floorflow.cfg
if [ ! -f "$config" ]; then
    card=$(basename "$here")
    config=$here/links.cfg
    [ $# -gt 0 ] || stop "usage: link.sh AURORA_FOLDER [LINK_DIR]"
    aurora=$1
    shift
fi
link=${1:-$here/link}
[ $# -eq 0 ] || shift

# What the plan was made for is said in the configuration.
told() { sed -n "s/^# $1: //p" "$config"; }
# Kernels have the same ports as in the plan, or v++ would fail after hours, or join others.
kernels() { sed -n 's/^nk=\([^:]*\):.*/\1/p' "$config" | sort; }
# Units are called otherwise than kernels: each stream of the plan, by kernels.
streams() {
    awk -F'[=:.]' '/^nk=/ {kernel[$4] = $2}
        /^stream_connect=/ {print "stream_connect=" kernel[$2] "." $3 ":" kernel[$4] "." $5}' "$config" | sort
}
objects=()
if [ -n "$card" ]; then
    # Only kernels that the configuration names: v++ would make a unit of each other one, too.
    for kernel in $(kernels); do
        for folder in "$here/finn/build/xo" "$plan/links" "$aurora"; do
            [ ! -f "$folder/$kernel.xo" ] || break
        done
        [ -f "$folder/$kernel.xo" ] || stop "there is no $kernel.xo in $here/finn/build/xo, $plan/links or $aurora"
        objects+=("$(cd "$folder" && pwd)/$kernel.xo")
    done
else
    builds=("$@")
    if [ $# -eq 0 ]; then
        while IFS= read -r folder; do builds+=("$plan/$folder"); done < <(told build)
    fi
    [ "${#builds[@]}" -eq "$(told build | wc -l)" ] || stop "floorflow.cfg is of $(told build | wc -l) builds, not ${#builds[@]}"
    for build in "${builds[@]}"; do
        [ -f "$build/kernels/connections.txt" ] || stop "$build holds no kernels; build its network first, as docs/several-networks.md says"
        objects+=("$(cd "$build/kernels" && pwd)"/*.xo)
    done
    [ "$(printf '%s\n' "${objects[@]##*/}" | sed 's/\.xo$//' | sort)" = "$(kernels)" ] || stop "FINN made other kernels than the plan's"
    [ "$(for build in "${builds[@]}"; do cat "$build/kernels/connections.txt"; done | sort)" = "$(streams)" ] || stop "FINN joins its kernels otherwise than the plan"
fi

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
[ -z "$card" ] || hook=$here/finn/build/floorflow/$card/pblocks.tcl
if [ -f "$hook" ]; then
    sed -i "s#@HOOK@#$hook#" "$link/floorflow.cfg"
else
    sed -i "/@HOOK@/d" "$link/floorflow.cfg"
fi
# Where kernels and settings are those of the link before, and that was synthesised, only constraints can be others,
# which Vivado reads when it implements: v++ goes on there (UG1393), and saves its own linking and synthesis.
again=()
synthesised=$link/_x/link/vivado/vpl/.synth.end.rst
linked=$(echo "Vitis $version"; cat "$link/floorflow.cfg"; cksum "${objects[@]}")
if [ -f "$synthesised" ] && [ "$linked" = "$(cat "$link/floorflow_linked.txt" 2>/dev/null)" ]; then
    again=(--from_step vpl.impl)
    echo "floorflow: the kernels are linked and synthesised in $link already, only their implementation begins anew"
else
    rm -f "$synthesised"
    echo "$linked" >"$link/floorflow_linked.txt"
fi
[ ! -f "$link/a.xclbin" ] || mv "$link/a.xclbin" "$link/a.before.xclbin"
cd "$link"
v++ -t hw --platform "$(told platform)" --link "${objects[@]}" --kernel_frequency "$(told mhz)" \
    --config "$link/floorflow.cfg" --optimize 3 --save-temps -R2 ${again[@]+"${again[@]}"}
[ -f "$link/a.xclbin" ] || stop "v++ made no a.xclbin; see the logs in $link"
xclbinutil --info --input "$link/a.xclbin" >"$link/floorflow_xclbin.info"
[ -z "$card" ] || cp "$link/a.xclbin" "$here/$card.xclbin"
echo "floorflow: $link/a.xclbin holds ${#objects[@]} kernels"

#!/bin/bash
# Hand-written: links FINN's Vitis project again, with the plan's constraints.
#
#   vitis/relink.sh LINK_DIR
#   fpga1/vitis/relink.sh LINK_DIR      (where a plan has several cards)
#
# LINK_DIR is FINN's folder with config.txt and run_vitis_link.sh (FINN main) or run_link.sh (FINN+).
set -eu

stop() {
    echo "floorflow: $*" >&2
    exit 2
}

[ $# -eq 1 ] || stop "usage: relink.sh LINK_DIR"
here=$(cd "$(dirname "$0")" && pwd)
plan=$(dirname "$here")
fpga=fpga0
if [ ! -d "$plan/vivado" ]; then
    fpga=$(basename "$plan")
    plan=$(dirname "$plan")
fi
[ -d "$1" ] || stop "there is no folder $1"
link=$(cd "$1" && pwd)

# Copies of a network are linked of the kernels of one; without a floorplan of theirs, SLRs alone place them.
copies=$(sed -n 's/^# copies: //p' "$here/floorflow.cfg")
hook=$plan/$fpga/pblocks.tcl
[ -f "$hook" ] || [ -n "$copies" ] || stop "there is no $hook; names are read from FINN's build: run 'floorflow bind' and use its folder"
script=
for name in run_vitis_link.sh run_link.sh; do
    [ -f "$link/$name" ] && script=$link/$name
done
[ -n "$script" ] || stop "$link holds no run_vitis_link.sh or run_link.sh; give FINN's link folder"

# What the plan was made for is said in the configuration's first lines.
told() { sed -n "s/^# $1: //p" "$here/floorflow.cfg"; }
platform=$(told platform)
grep -q -- "--platform $platform\( \|\$\)" "$script" || stop "$script links for another platform than $platform"
command -v v++ >/dev/null || stop "v++ is not on the PATH; source Vitis' settings64.sh"
version=$(v++ --version | sed -n 's/.*v\([0-9][0-9]*\.[0-9]\).*/\1/p' | head -n 1)
case " $(told versions) " in
*" $version "*) ;;
*) stop "this is Vitis $version, FINN's project is of $(told versions)" ;;
esac

# Register slices at SLR boundaries: inserted behind the linker, and placed in the hook that the floorplan has already.
insert=
if [ -f "$here/crossings.tcl" ]; then
    insert=$link/floorflow_insert.tcl
    printf 'source {%s}\nfloorflow::insert_slices\n' "$here/crossings.tcl" >"$insert"
    printf 'source {%s}\nsource {%s}\nfloorflow::place_slices\n' "$hook" "$here/crossings.tcl" >"$link/floorflow_pre_opt.tcl"
    hook=$link/floorflow_pre_opt.tcl
elif grep -q "@INSERT@" "$here/floorflow.cfg"; then
    stop "there is no $here/crossings.tcl, which floorflow.cfg asks for; take the plan's whole folder"
fi

# A second --config beside FINN's: what it holds is what FINN does not write.
sed -e "s#@HOOK@#$hook#" -e "s#@INSERT@#$insert#" -e "s#@REPORT@#$plan/vivado/floorflow_report.tcl#" "$here/floorflow.cfg" >"$link/floorflow.cfg"
# One setting of a step in two files would leave to v++ which holds: what FINN sets of ours is left out of its file.
set_by() { sed -n 's/^\(prop=[^=]*=\).*/\1/p' "$1"; }
others() { if [ -n "$(set_by "$link/floorflow.cfg")" ]; then grep -v -F -e "$(set_by "$link/floorflow.cfg")"; else cat; fi; }
if [ -n "$copies" ]; then
    # Ours in the place of FINN's connections, which are of one copy and must be those of our first.
    own() { sed -n -e 's/^nk=\([^:]*\):.*/nk \1/p' -e 's/^sc=/stream_connect=/' -e 's/^\(stream_connect=.*\)/\1/p' "$1" | sort; }
    first() { sed -e '/^stream_connect=/{/_0\./!d;s/_0\././g;}' "$link/floorflow.cfg" >"$link/floorflow_first.cfg" && own "$link/floorflow_first.cfg"; }
    [ "$(own "$link/config.txt")" = "$(first)" ] || stop "$link/config.txt joins other kernels than the plan's first copy"
    [ -f "$hook" ] || sed -i "/OPT_DESIGN.TCL.PRE=/d" "$link/floorflow.cfg"
    settings=$(sed -n '/^\[vivado\]/,$p' "$link/config.txt" | grep '^prop=' | others || true)
    [ -z "$settings" ] || printf '[vivado]\n%s\n' "$settings" >>"$link/floorflow.cfg"
    sed -e "/^v++ /s#--config [^ ]*#--config $link/floorflow.cfg#" "$script" >"$link/floorflow_link.sh"
else
    sed -e "s#^v++ #v++ --config $link/floorflow.cfg #" "$script" >"$link/floorflow_link.sh"
    if [ -f "$link/config.txt" ]; then
        others <"$link/config.txt" >"$link/floorflow_finn.cfg" || true
        sed -i "/^v++ /s#--config [^ ]*config.txt#--config $link/floorflow_finn.cfg#" "$link/floorflow_link.sh"
    fi
fi
grep -q "floorflow.cfg" "$link/floorflow_link.sh" || stop "$script has no line that begins with v++"
cd "$link"
# Where kernels and settings are those of the last link by this script, and that was synthesised, only constraints can
# be others, which Vivado reads when it implements: v++ goes on there (UG1393), and saves its own linking and synthesis.
synthesised=_x/link/vivado/vpl/.synth.end.rst
linked=$(echo "Vitis $version"; cat floorflow.cfg floorflow_link.sh floorflow_finn.cfg 2>/dev/null; cat "$here/crossings.tcl" 2>/dev/null; grep -o '[^ ]*\.xo' floorflow_link.sh | xargs cksum 2>/dev/null) || true
if [ -f "$synthesised" ] && [ "$linked" = "$(cat floorflow_linked.txt 2>/dev/null)" ]; then
    sed -i "s#^v++ #v++ --from_step vpl.impl #" floorflow_link.sh
    echo "floorflow: the kernels are linked and synthesised in $link already, only their implementation begins anew"
else
    rm -f "$synthesised"
    echo "$linked" >floorflow_linked.txt
fi
[ ! -f a.xclbin ] || mv a.xclbin a.before.xclbin
bash "$link/floorflow_link.sh"
[ -f "$link/a.xclbin" ] || stop "v++ made no a.xclbin; see the logs in $link"
xclbinutil --info --input "$link/a.xclbin" >"$link/floorflow_xclbin.info"
echo "floorflow: $link/a.xclbin is linked with $hook"

"""How FINN, FINN+ and Vivado make a bitstream of a plan: steps with their commands, by board, cards and networks."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from floorflow.backends.finn.card_builds import is_built_by_card
from floorflow.backends.finn.export import folding_file
from floorflow.backends.finn.names import NAMED_HLS, VERSION_NAMES
from floorflow.backends.finn.options import FinnOptions
from floorflow.facts import Plan
from floorflow.facts.guide import BuildStep, Place, measured_step, run_step

_TRIED = {"main": " 0.10", "plus": " (1.6.1 was tried)"}
_BUILD = "build"
_LINK_DIR = "LINK_DIR"
_RELINKED = f"--bitstream fpga0={_LINK_DIR}/a.xclbin"
_LINKS = f"{_LINK_DIR} is FINN's link folder, vitis_link_proj_... among its build files"


def build_steps(plan: Plan, place: Place) -> Iterator[BuildStep]:
    """Yield the steps from the plan to a bitstream, or as far as there are any."""
    options = plan.options.backend_options
    if not isinstance(options, FinnOptions):
        return
    if len(plan.platform.fpgas) > 1 and not plan.build_ends:
        yield from _on_cards_of_main(plan, place, options)
    elif options.stitches:
        yield from _stitched(plan, place, options)
    elif plan.reconfigurable is not None or len(plan.phases) > 1:
        yield from _in_phases(plan, place, options)
    elif len(plan.networks) > 1 and plan.replicas is None:
        yield from _networks(plan, place, options)
    else:
        yield from _one(plan, place, options)


def _tools(plan: Plan, options: FinnOptions) -> str:
    """Return FINN by its name, and the tools of AMD's that it calls."""
    version = options.vivado or ".".join(map(str, NAMED_HLS[options.finn]))
    alveo = plan.platform.fpgas[0].part.startswith("xcu")
    suite = "Vitis (v++, Vivado, XRT and the card's platform)" if alveo else "Vivado with Vitis HLS"
    whose = "its own environment" if options.finn == "plus" else "its container or environment"
    name = f"{VERSION_NAMES[options.finn]}{_TRIED.get(options.finn, '')}"
    return f"{name} in {whose}, and {suite}, {version} unless the board needs another"


def _build(place: Place, options: FinnOptions, folder: str, model: str) -> str:
    """Return the command of a build from its folder."""
    own = "PYTHONPATH=. finn build build.yaml" if options.finn == "plus" else "python build.py"
    return f"(cd {place.path(folder)} && {own} {model})"


def _folder(plan: Plan, network: str, phase: int = 0) -> str:
    return plan.phase_folder(phase) + str(PurePosixPath(folding_file(plan, network)).parent)


def _built(plan: Plan, place: Place, options: FinnOptions, then: str) -> BuildStep:
    """Return the build of every network, one where all are copies."""
    networks = plan.networks if plan.replicas is None else plan.networks[:1]
    commands = []
    for number, network in enumerate(networks):
        folder = _folder(plan, network.name)
        commands.append(_build(place, options, folder, place.model(plan, number, folder)))
    return BuildStep(f"Build with {VERSION_NAMES[options.finn]}", tuple(commands), _tools(plan, options), then)


def _one(plan: Plan, place: Place, options: FinnOptions) -> Iterator[BuildStep]:
    """Yield the way of one network, or copies of it: a build, linked or implemented again where it has to be."""
    several, folder = len(plan.platform.fpgas) > 1, _folder(plan, plan.networks[0].name)
    made = f"{folder}/{_BUILD}"
    if plan.unbuilt:
        yield _built(plan, place, options, f"{place.path(made)} has a stitched IP, and the design around it is yours")
        yield _bound(place, made)
        yield BuildStep("Implement it in a Vivado project of your own", (), "Vivado", _hooks(place))
        yield measured_step(place, "REPORTS", place.beside("bound"))
        return
    bitstreams = "a bitstream for each card" if several else "the bitstream"
    inside = options.finn == "plus" and not place.has("vivado/zynq_impl.tcl") and plan.replicas is None
    kept = ", with the constraints in it" if inside and place.matching("pblocks.unbound.tcl") else ""
    yield _built(plan, place, options, f"{place.path(made)}/bitfile has {bitstreams}{kept}")
    others = ""
    if plan.replicas is not None:
        yield _relinked(place.path("vitis/relink.sh"), "with all copies")
        others = _RELINKED
    elif place.has("vivado/zynq_impl.tcl"):
        yield _bound(place, made)
        script, out = place.beside("bound", "vivado/zynq_impl.tcl"), place.beside("made")
        yield BuildStep(
            "Implement it again with the constraints",
            (f"vivado -mode batch -source {script} -tclargs PROJECT.xpr {out}",),
            "Vivado; PROJECT.xpr is FINN's finn_zynq_link.xpr, among its build files",
            f"{out} has finn-accel.bit, finn-accel.hwh and reports",
        )
        others = f"--bitstreams {out}"
    elif place.has("vitis/relink.sh") and not inside:
        yield _bound(place, made)
        yield _relinked(place.beside("bound", "vitis/relink.sh"), "with the constraints")
        others = _RELINKED
    yield from run_step(place, others)
    yield measured_step(place, place.path(made), place.path())


def _bound(place: Place, made: str) -> BuildStep:
    new, build = place.beside("bound"), place.path(made)
    return BuildStep(
        "Bind the constraints to the cells of the build",
        (f"floorflow bind {place.path()} --build {build} -o {new}", f"floorflow check {new} --build {build}"),
        "floorflow alone",
        f"{new} has the constraints by the names that FINN gave",
    )


def _hooks(place: Place) -> str:
    own = [name.replace(".unbound", "") for name in place.matching("pblocks.unbound.tcl")]
    if not own:
        return "there is nothing to source in it, for the plan constrains nothing"
    return f"source {', '.join(place.beside('bound', name) for name in own)} in it"


def _relinked(script: str, how: str) -> BuildStep:
    return BuildStep(
        f"Link it {how}",
        (f"bash {script} {_LINK_DIR}",),
        f"Vitis, the version of the build; {_LINKS}",
        f"{_LINK_DIR}/a.xclbin is the bitstream",
    )


def _networks(plan: Plan, place: Place, options: FinnOptions) -> Iterator[BuildStep]:
    """Yield the way of several networks: kernels of each that v++ links, or a stitched IP of each."""
    if place.has("vitis/link.sh"):
        yield _built(plan, place, options, "each build has the kernels of its network")
        yield BuildStep(
            "Link the kernels of all", (f"bash {place.path('vitis/link.sh')}",), "Vitis, the version of the builds"
        )
        yield from run_step(place)
        return
    yield _built(plan, place, options, "each build has a stitched IP; the design that holds all of them is yours")


def _in_phases(plan: Plan, place: Place, options: FinnOptions) -> Iterator[BuildStep]:
    """Yield the way of partitions in time: a build of each phase, and what swaps them where it is by regions."""
    commands = []
    for phase, entry in enumerate(plan.phases):
        for part in entry.networks:
            folder = _folder(plan, part.network, phase)
            number = [network.name for network in plan.networks].index(part.network)
            commands.append(_build(place, options, folder, place.model(plan, number, folder)))
    ends = "each build has a stitched IP; the design around it is yours"
    yield BuildStep(
        f"Build each phase with {VERSION_NAMES[options.finn]}", tuple(commands), _tools(plan, options), ends
    )
    for script in place.matching("dfx/dfx.tcl"):
        yield BuildStep(
            "Implement what stays and every phase in its region",
            (f"vivado -mode batch -source {place.path(script)} -tclargs STATIC.dcp MODULES",),
            "Vivado; STATIC.dcp, what stays, is synthesised by you with a black box for each region, and MODULES holds "
            "the synthesised phases (docs/reconfigure.md)",
            "full.bit, and a partial bitstream of each phase",
        )
    for script in place.matching("host/run_chunks.py"):
        yield BuildStep("Run it", (f"python3 {place.path(script)} --help",), "pynq, on the board")


def _stitched(plan: Plan, place: Place, options: FinnOptions) -> Iterator[BuildStep]:
    """Yield the way of modules that are implemented alone and stitched."""
    folder = _folder(plan, plan.networks[0].name)
    modules = place.path(f"{folder}/{_BUILD}/modules")
    yield _built(plan, place, options, f"{modules} has the IP of each module")
    yield BuildStep(
        "Implement each module alone, and stitch them into the top of each card",
        (f"floorflow build {place.path()} --modules {modules}",),
        "Vivado, and pip install 'floorflow[jobs]'; pins of yours in top/pins.xdc of a card lead to its bitstream",
        f"{place.path('jobs')} has checkpoints, reports and a library; the same command goes on after a failure",
    )


def _on_cards_of_main(plan: Plan, place: Place, options: FinnOptions) -> Iterator[BuildStep]:
    """Yield the way of several cards that FINN builds one by one; where it does not, the plan that can be built."""
    if not is_built_by_card(plan):
        network, board = plan.options.models[0], plan.platform.fpgas[0].board
        model = place.model(plan, 0, "..") if not place.models else place.models[0]
        asked = f"-p {board} --fpgas {len(plan.platform.fpgas)} --finn plus"
        yield BuildStep(
            "Plan what a tool can build",
            (f"floorflow plan {model} {asked} -o {place.beside('plus')}",),
            "floorflow alone; give the other options of run.json's command line again",
            f"FINN+ builds {PurePosixPath(network).name} for several cards where it joins them by its own links",
        )
        return
    if place.has("links/package.tcl"):
        command = f"(cd {place.path('links')} && vivado -mode batch -source package.tcl)"
        yield BuildStep("Package the link kernels", (command,), "Vivado")
    cards = [str(PurePosixPath(name).parent) for name in place.matching("finn/build.py") if name.startswith("fpga")]
    builds = (_build(place, options, card, place.model(plan, 0, card)) for card in cards)
    yield BuildStep(f"Build each card with {VERSION_NAMES[options.finn]}", tuple(builds), _tools(plan, options))
    scripts = [name for name in place.matching("/link.sh") if name.startswith("fpga")]
    links = (f"bash {place.path(name)} AURORA_FOLDER" for name in scripts)
    yield BuildStep("Link each card", tuple(links), "Vitis; AURORA_FOLDER holds AuroraFlow's kernels (docs/links.md)")
    yield from run_step(place)

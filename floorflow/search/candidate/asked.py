"""The platform that a request asks for."""

from __future__ import annotations

from dataclasses import replace

from floorflow.errors import InputError
from floorflow.hardware.areas import with_keep_outs
from floorflow.hardware.load import described_fpgas, load_platform, require_described
from floorflow.hardware.platform import Platform
from floorflow.presets import ALVEO_MHZ
from floorflow.request import RESOURCES_ALONE, Request


def settled(request: Request) -> Request:
    """Return the request with the number of FPGAs that its platform's file describes, if it is a platform file.

    Raises
    ------
    InputError
        If both a risk and the caps or fills in whose place it stands were asked for.
    PlatformError
        If another number was asked for.

    """
    if request.platform.startswith(RESOURCES_ALONE):
        raise InputError(
            f"--platform {request.platform}: its resources alone are known, so nothing can be placed there",
            hint="floorflow plan cuts and folds networks on it, in Python floorflow.plan_resources",
        )
    asked = [option for option in ("cap", "fill") if option in request.model_fields_set]
    if request.risk is not None and asked:
        raise InputError(
            f"--risk {request.risk:g}: it takes the place of --{asked[0]}", hint="leave out one of the two"
        )
    described = described_fpgas(request.platform)
    if described is None:
        return request
    if "fpgas" in request.model_fields_set:
        require_described(request.platform, described, request.fpgas)
    return request.changed(fpgas=described)


def platform_of(request: Request, fpgas: int | None = None) -> Platform:
    """Return the request's platform, of ``fpgas`` FPGAs if that is given; of one where their number is yet to be found.

    Raises
    ------
    PlatformError
        As `load_platform`.

    """
    count = fpgas or (1 if request.fpgas == "auto" else request.fpgas)
    # A topology that nobody asked for contradicts no file.
    topology = request.topology if "topology" in request.model_fields_set else None
    asked = request.platform, count, request.clock_mhz, request.link, topology
    platform = with_keep_outs(load_platform(*asked, host_port=request.host_port), request.keep_out)
    most_mhz = ALVEO_MHZ.get(request.preset)
    if request.clock_mhz is not None or most_mhz is None:
        return platform
    return replace(platform, asked_mhz=platform.own_mhz(most_mhz))

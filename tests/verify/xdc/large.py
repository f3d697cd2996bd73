"""A floorplan as large as one is asked for: five commands a pblock."""


def large_floorplan(commands: int) -> str:
    """Return an XDC text for xcu250."""
    lines = []
    for number in range(commands // 5):
        x, y, name = number * 3 % 200, number // 70 * 3 % 957, f"pblock_{number}"
        lines += [
            f"create_pblock {name}",
            f"resize_pblock [get_pblocks {name}] -add {{SLICE_X{x}Y{y}:SLICE_X{x + 2}Y{y + 2}}}",
            f"set_property IS_SOFT FALSE [get_pblocks {name}]",
            f"set_property CONTAIN_ROUTING TRUE [get_pblocks {name}]",
            f"add_cells_to_pblock [get_pblocks {name}] [get_cells -quiet [list top/k_{number}/inst]]",
        ]
    return "\n".join(lines) + "\n"

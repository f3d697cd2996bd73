"""FINN's sliding window stepped cycle by cycle: registers and conditions of FINN+ 1.6.1's swg_template_default.sv."""

from dataclasses import dataclass

from floorflow.backends.finn.kinds.window import WindowUnit


@dataclass(frozen=True)
class Seen:
    """Cycles from frame to frame, and from the first word in to the last word of the first frame at the output."""

    period: int
    last_word: int


def fetched(unit: WindowUnit) -> tuple[list[int], list[int]]:
    """Return which word of the image each tap of a frame is, and from which word on the next window lies."""
    (rows, columns), (stride_h, stride_w), width = unit.output, unit.stride, unit.image[1]
    starts = [row * stride_h * width + column * stride_w for row in range(rows) for column in range(columns)]
    taps = [
        row * unit.dilation[0] * width + column * unit.dilation[1]
        for row in range(unit.kernel[0])
        for column in range(unit.kernel[1])
    ]
    order, kept = [], []
    for start, after in zip(starts, [*starts[1:], unit.image[0] * width], strict=True):
        order += [(start + tap) * unit.folds + fold for tap in taps for fold in range(unit.folds)]
        kept += [after * unit.folds] * (len(taps) * unit.folds)
    return order, kept


def step_window(unit: WindowUnit, frames: int = 4) -> Seen:
    """Step a window that is not depthwise, with words always there and places always free."""
    order, kept = fetched(unit)
    last, room = unit.image[0] * unit.image[1] * unit.folds - 1, unit.buffer_words - 1
    newest, place, needed = -1, 0, 0
    sending = fetching_done = writing_done = False
    now, ends, sent = 0, [], []
    while len(ends) < frames:
        fetch = not fetching_done and order[place] <= newest
        oldest = newest - room
        read = newest < last and (fetching_done or (oldest < needed and oldest < order[place]))
        anew = False
        if read and newest == last - 1 and writing_done:
            anew = True
        if sending:
            sent.append(now)
            complete = newest == last or (read and newest == last - 1)
            anew = anew or (fetching_done and complete)
            writing_done = writing_done or (fetching_done and not complete)
        if fetch:
            needed = kept[place]
            fetching_done = place == len(order) - 1
            place += not fetching_done
        sending = fetch
        newest += read
        if anew:
            newest, place, needed, fetching_done, writing_done = -1, 0, 0, False, False
            ends.append(now)
        now += 1
    return Seen(ends[-1] - ends[-2], sent[len(order) - 1])

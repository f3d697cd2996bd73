import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.errors import PlatformError
from floorflow.hardware.device_file import read_device


def text_of(part):
    return (asset_folder("platforms") / "devices" / f"{part}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("part", "old", "new", "complaint"),
    [
        ("xcku5p", "schema: floorflow-device/1", "schema: floorflow-device/2", "schema: .*floorflow-device/1"),
        ("xcku5p", "die: xcku5p\n", "", "die: the field is missing"),
        ("xcku5p", "die: xcku5p\n", "die: xcku5p\ncolour: red\n", "colour: unknown field"),
        (
            "xcku5p",
            "rows_per_clock_region: 60",
            "rows_per_clock_region: sixty",
            "rows_per_clock_region: .*integer.*'sixty'",
        ),
        ("xcku5p", "layouts:\n", "layouts: [\n", "not valid YAML"),
        ("xcku5p", "oootILMILB", "oootILMIL", r"layouts\.R1: expected 229 characters"),
        ("xcku5p", "oootILMILB", "oootILM?LB", r"layouts\.R0: the legend does not explain"),
        ("xcku5p", "[R0, R1, R2, R3]", "[R0, R1, R2, R9]", "clock_region_layouts: .*R9.* not in layouts"),
        ("xcku5p", "[R0, R1, R2, R3]", "[R0, R1, R2]", "clock_region_layouts: expected 4 names"),
        ("xcku5p", "tile_rows: 15", "tile_rows: 7", r"legend\.U\.tile_rows: 60 rows are no multiple"),
        ("xcku5p", "URAM288: [159]", "URAM288: [158]", r"site_columns\.URAM288: expected the columns"),
        ("xcku5p", "URAM288: [[0, 15]", "URAM288: [[0, 14]", r"site_rows\.URAM288: expected Y numbers without gaps"),
        (
            "xcku5p",
            "URAM288: [[0, 15], [16, 31]",
            "URAM288: [[0, 13], [14, 31]",
            r"site_rows\.URAM288\.0: expected a multiple of 4",
        ),
        ("xcku5p", "SLICE: [5, 6,", "SLICE: [5, 5, 6,", r"site_columns\.SLICE: expected each column as often"),
        ("xcku5p", "RAMB36: [9, 30,", "RAMB36: [30, 9,", r"site_columns\.RAMB36: expected ascending"),
        (
            "xcu250",
            "LAGUNA: [[0, 119], null,",
            "LAGUNA: [null, [0, 119],",
            r"site_rows\.LAGUNA\.0: expected .* 120 to 120",
        ),
        ("xcku5p", "[60, 114]", "[61, 114]", r"clock_regions\.columns: expected spans"),
        ("xcku5p", "clock_region_rows: [0, 3]", "clock_region_rows: [0, 2]", "slrs: expected SLRs that cover"),
        ("xcku5p", "architecture: ultrascale+", "architecture: 7series", "architecture: part xcku5p is ultrascale"),
        ("xcku5p", "totals: {LUT: 216960", "totals: {LUT: 216968", r"totals\.LUT: the layouts hold 216960"),
        ("xcu250", "boundaries: [[3, 4],", "boundaries: [", r"sll\.boundaries: expected \[\(3, 4\)"),
    ],
)
def test_a_bad_device_file_names_file_and_field(part, old, new, complaint):
    text = text_of(part)
    assert old in text
    with pytest.raises(PlatformError, match=rf"my/die\.yaml: {complaint}") as caught:
        read_device(text.replace(old, new, 1), "my/die.yaml")
    assert caught.value.exit_code == 2


def test_two_tile_heights_for_one_resource_are_refused():
    text = text_of("xcku5p").replace('"p": {kind: other,', '"p": {kind: dsp, tile_rows: 15, resources: {DSP: 2},', 1)
    with pytest.raises(PlatformError, match=r"legend\.p\.tile_rows: expected 5, as elsewhere for DSP"):
        read_device(text, "die.yaml")


@pytest.mark.parametrize("text", ["", "[]", "just words"])
def test_a_file_that_is_no_mapping_is_refused(text):
    with pytest.raises(PlatformError, match=r"die\.yaml: the file: "):
        read_device(text, "die.yaml")


def test_wires_between_slrs_need_the_columns_of_their_registers():
    described = yaml.safe_load(text_of("xcu250"))
    for tile in described["legend"].values():
        tile.get("sites", {}).pop("LAGUNA", None)
    del described["site_columns"]["LAGUNA"], described["site_rows"]["LAGUNA"]
    with pytest.raises(PlatformError, match=r"die\.yaml: site_columns\.LAGUNA: expected the columns"):
        read_device(yaml.safe_dump(described), "die.yaml")


def test_every_shipped_die_credits_its_source():
    for path in sorted((asset_folder("platforms") / "devices").glob("*.yaml")):
        head = path.read_text(encoding="utf-8").partition("schema:")[0]
        assert "byteman" in head, path
        assert "Apache-2.0" in head, path

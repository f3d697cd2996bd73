"""A folder of reports: which files are which; `floorflow.backends.vivado` reads them."""

from floorflow.study.reports.folder import Folder, read_reports

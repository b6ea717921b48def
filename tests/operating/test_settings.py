"""Settings and units of docs/operating.md, and what is to be watched: they load, are clean and name what there is."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from django.core.management import load_command_class
from prometheus_client import REGISTRY

from envelopes import metrics
from tests.operating.guide import Project, piece, pieces

KEYS = {"SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz" * 2, "METRICS_TOKEN": "t" * 40}
UNITS = ("mysite-web@.service", "mysite-worker@.service", "mysite.target")


def test_a_project_with_them_has_nothing_that_a_deployment_check_finds(tmp_path: Path) -> None:
    """Also with both ways to sign people in: of their lines the last ones count, and all of them load."""
    project = Project(tmp_path)
    settings, sso, proxied = pieces("mysite/production.py")
    urls, oidc_urls = pieces("mysite/urls.py")
    project.add("production.py", settings)
    project.add("urls.py", urls)
    project.add("sign_on.py", piece("mysite/sign_on.py"))
    project.add("proxied.py", piece("mysite/proxied.py"))
    check = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")

    for code in (sso, proxied):
        project.add("production.py", code)
    project.add("urls.py", oidc_urls)
    project.run(*check, settings="mysite.production", **KEYS)


def _units(folder: Path) -> list[Path]:
    """With an interpreter and folders that are here."""
    written = []
    for name in UNITS:
        text = piece(f"/etc/systemd/system/{name}").replace("/srv/mysite/env/bin/python", sys.executable)
        file = folder / name
        file.write_text(text.replace("/srv/mysite", str(folder)))
        written.append(file)
    return written


@pytest.mark.parametrize("name", UNITS[:2])
def test_a_unit_starts_a_command_that_is_there_and_gives_it_the_time_to_end(name: str) -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(piece(f"/etc/systemd/system/{name}"))
    command = unit["Service"]["ExecStart"].split()

    assert command[:2] == ["/srv/mysite/env/bin/python", "manage.py"]
    load_command_class("envelopes", command[2]).create_parser("manage.py", command[2]).parse_args(
        [word.replace("%i", "8001") for word in command[3:]]
    )
    assert int(unit["Service"]["TimeoutStopSec"]) > 10
    assert unit["Unit"]["PartOf"] == unit["Install"]["WantedBy"] == "mysite.target"


def test_systemd_takes_the_units_and_finds_them_hardened(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze: there is none; the units are parsed by the test above")
    units = _units(tmp_path)
    web = [str(file) for file in units if file.suffix == ".service"]

    verified = subprocess.run([analyze, "verify", *web], capture_output=True, text=True, check=False)
    rated = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=30", *web],
        capture_output=True,
        text=True,
        check=False,
    )

    # Units of the machine that these name are none of ours.
    assert [line for line in verified.stderr.splitlines() if "mysite" in line] == []
    assert rated.returncode == 0, rated.stdout


def test_a_rule_names_a_metric_and_a_label_that_there_are() -> None:
    (group,) = yaml.safe_load(piece("mysite-rules.yml"))["groups"]
    (job,) = yaml.safe_load(piece("prometheus.yml"))["scrape_configs"]
    known = {sample.name for family in REGISTRY.collect() for sample in family.samples}
    known |= {
        "beach_turns_total",
        "beach_turn_seconds_bucket",
        "beach_model_failures_total",
        "beach_model_cost_total",
    }
    labels = {name for one in vars(metrics).values() for name in getattr(one, "_labelnames", ())} | {
        "le",
        "job",
    }

    assert job["job_name"] == "mysite"
    assert len(group["rules"]) == len({rule["alert"] for rule in group["rules"]}) == 6
    for rule in group["rules"]:
        expression = rule["expr"]
        assert set(re.findall(r"beach_\w+", expression)) <= known
        for name in re.findall(r"by \((\w+)\)|\{(\w+)=", expression):
            assert set(filter(None, name)) <= labels, expression

"""Make the pictures of docs/report.md: `python docs/pictures/report/screenshots.py` (needs chromium)."""

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_breast_cancer

from stochgate import GatedClassifier, evaluate
from stochgate.report import write_report

FOLDER = Path(__file__).parent
N_NOISE = 100


def write_example(path: Path) -> None:
    """Write the report on the Wisconsin tumours with columns of pure noise beside their measurements."""
    data = load_breast_cancer()
    noise = np.random.default_rng(0).normal(size=(len(data.data), N_NOISE))
    names = [*data.feature_names.tolist(), *(f"noise {j}" for j in range(N_NOISE))]
    X = pd.DataFrame(np.hstack([data.data, noise]), columns=names)
    y = pd.Series(data.target_names[data.target], name="diagnosis")
    model = GatedClassifier(random_state=0).fit(X, y)
    write_report(model, path, X, y, evaluation=evaluate(model, X, y, random_state=0))


def take_pictures(report: Path) -> None:
    """Take the report's pictures: on a desk, on a phone, and in the dark."""
    with sync_playwright() as playwright:
        path = os.environ.get("STOCHGATE_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(report.as_uri())
        bottom = page.locator("#size-table").evaluate("box => box.getBoundingClientRect().bottom")
        page.set_viewport_size({"width": 1200, "height": int(bottom) + 40})
        keep(page, "desktop")
        page = browser.new_page(viewport={"width": 390, "height": 844}, device_scale_factor=2)
        page.goto(report.as_uri())
        page.locator("#path").scroll_into_view_if_needed()
        page.evaluate("document.getElementById('path-chart').scrollIntoView({behavior: 'instant'})")
        keep(page, "phone")
        page = browser.new_page(viewport={"width": 1200, "height": 1240}, color_scheme="dark")
        page.goto(report.as_uri())
        page.evaluate("document.getElementById('path').scrollIntoView({behavior: 'instant'})")
        keep(page, "dark")
        browser.close()


def keep(page: Any, name: str) -> None:
    """Keep what is in sight, in 256 colours, which is small."""
    page.wait_for_timeout(300)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        example = Path(folder) / "report.html"
        write_example(example)
        take_pictures(example)

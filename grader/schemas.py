"""The JSON Schema files of our documents, made from the models that write them.

Owns the list of files; run `python -m grader.schemas docs/schemas` after a model has changed. A test
holds the files equal to the models.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel


def schema_files() -> dict[str, str]:
    """File name → content."""
    from grader.board.document import BoardDocument
    from grader.classroom.forms import ClassDocument
    from grader.cli import collection_documents, content_documents, documents, importing_documents
    from grader.diagnosis.document import WhyDocument
    from grader.report.json import CheckDocument
    from grader.report.progress_report import ReportDocument
    from grader.report.record_text import ReportVerified
    from grader.timeline.document import TimelineDocument
    from grader.verify.documents import VerifyDocument

    models: dict[str, type[BaseModel]] = {
        "check-v1.json": CheckDocument,
        "report-v1.json": ReportDocument,
        "report-verify-v1.json": ReportVerified,
        "class-v1.json": ClassDocument,
        "verify-v1.json": VerifyDocument,
        "article-v1.json": content_documents.ArticleDocument,
        "articles-v1.json": content_documents.ArticlesDocument,
        "board-v1.json": BoardDocument,
        "binaries-v1.json": documents.BinariesDocument,
        "collection-v1.json": collection_documents.CollectionDocument,
        "collections-v1.json": collection_documents.CollectionsDocument,
        "course-v1.json": content_documents.CourseDocument,
        "courses-v1.json": content_documents.CoursesDocument,
        "doctor-v1.json": documents.DoctorDocument,
        "fault-v1.json": documents.FaultDocument,
        "hint-v1.json": documents.HintDocument,
        "import-v1.json": importing_documents.ImportDocument,
        "lint-v1.json": documents.LintDocument,
        "list-v1.json": documents.ListDocument,
        "show-v1.json": documents.ShowDocument,
        "start-v1.json": documents.StartDocument,
        "status-v1.json": documents.StatusDocument,
        "timeline-v1.json": TimelineDocument,
        "why-v1.json": WhyDocument,
    }
    return {name: _text(name, model.model_json_schema(by_alias=True)) for name, model in models.items()}


def _text(name: str, schema: dict[str, Any]) -> str:
    title = f"batchlab/{'/'.join(name.removesuffix('.json').rsplit('-', 1))}"
    content = {"$schema": "https://json-schema.org/draft/2020-12/schema", **_open(schema), "title": title}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _open(schema: Any) -> Any:
    """The schema without the rule against further keys: we write none, but a later v1 may, and readers must not
    break then."""
    match schema:
        case dict():
            return {key: _open(value) for key, value in schema.items() if key != "additionalProperties" or value}
        case list():
            return [_open(value) for value in schema]
    return schema


def main() -> None:
    """Write every file into the folder that the command line names."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schema_files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

from __future__ import annotations

from a2ui import errors


class TestErrors:
    def test_the_message_defaults_to_the_docstring(self):
        error = errors.PatchError(index=3, path="/a")

        assert error.message == "The JSON Patch could not be applied; nothing was changed."
        assert (error.code, error.index, error.path, error.fault) == ("invalid_patch", 3, "/a", "agent")

    def test_facts_are_kept(self):
        error = errors.LimitError("Too deep.", limit="depth", allowed=100)

        assert error.facts == {"limit": "depth", "allowed": 100}
        assert error.code == "budget_exceeded"

    def test_repr_names_code_and_path(self):
        assert repr(errors.DataError("No.", path="/x")) == "<DataError DATA_ERROR at '/x': No.>"

    def test_every_error_says_whose_fault_it_is(self):
        assert errors.InputError().fault == "client"
        assert errors.ActionError().fault == "client"
        assert errors.ExpressionError(expression="f").fault == "agent"
        assert errors.A2uiError().fault == "us"


class TestDiagnosticAsMessage:
    def test_validation_failed_has_exactly_the_strict_fields(self):
        found = errors.Diagnostic("VALIDATION_FAILED", "Bad.", "/components/0", "s1", True, {"extra": 1})

        assert found.as_message() == {
            "version": "v0.9",
            "error": {
                "code": "VALIDATION_FAILED",
                "surfaceId": "s1",
                "path": "/components/0",
                "message": "Bad.",
            },
        }

    def test_other_codes_carry_their_facts_but_never_over_the_fixed_fields(self):
        found = errors.Diagnostic(
            "EXPRESSION_ERROR", "No.", facts={"expression": "f", "code": "x", "message": "y"}
        )

        assert found.as_message("v0.9.1") == {
            "version": "v0.9.1",
            "error": {"expression": "f", "code": "EXPRESSION_ERROR", "surfaceId": "", "message": "No."},
        }

    def test_from_error(self):
        error = errors.ExpressionError("No.", expression="f")

        found = errors.Diagnostic.from_error(error, surface_id="s", path="/p", refused=True)

        assert found == errors.Diagnostic("EXPRESSION_ERROR", "No.", "/p", "s", True, {"expression": "f"})

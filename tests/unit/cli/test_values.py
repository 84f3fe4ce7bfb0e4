import click
import pytest

from zhiku.cli.values import Share
from zhiku.errors import UsageError

OPTION = click.Option(["--min-relevance"])


@pytest.mark.parametrize(("text", "number"), [("0", 0.0), ("1", 1.0), (".25", 0.25), ("40%", 0.4), (" 100% ", 1.0)])
def test_a_share_is_a_number_or_a_percentage(text: str, number: float) -> None:
    assert Share().convert(text, OPTION, None) == number


@pytest.mark.parametrize("text", ["", "%", "x", "-0.1", "1.01", "40", "nan", "inf", "101%"])
def test_what_is_no_share_is_refused_with_the_option_and_a_way_to_write_it(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Share().convert(text, OPTION, None)
    assert caught.value.message == f"--min-relevance must be a number from 0 to 1, not {text!r}."
    assert caught.value.hint == "write --min-relevance 0.4 or --min-relevance 40%"

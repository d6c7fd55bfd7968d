"""Labels from Anthropic's API, through its own SDK (the extra `anthropic`)."""

from __future__ import annotations

from importlib.util import find_spec

from recollect.errors import KeywordError
from recollect.extras import way_to_add
from recollect.keywords.deadline import within
from recollect.keywords.prompt import INSTRUCTIONS, describe, parse_answer

KEY_VARIABLE = "ANTHROPIC_API_KEY"
URL_VARIABLE = "ANTHROPIC_BASE_URL"
MODEL = "claude-haiku-4-5"

_MOST_TOKENS = 200
_REASONS = {
    400: "did not accept the request",
    401: f"refused the key in {KEY_VARIABLE}; set a valid one",
    403: f"does not allow this with the key in {KEY_VARIABLE}; set another one",
    404: f"has no such model or address; check the model's name and {URL_VARIABLE}",
    429: "asks to be left alone for a while; try again later",
}


def is_installed() -> bool:
    """Return True if the SDK can be imported, without importing it."""
    return find_spec("anthropic") is not None


class AnthropicKeywords:
    """Labels from a small, fast model. A request may take `seconds` in all, and is not retried."""

    name = "anthropic"

    def __init__(self, key: str, *, base_url: str = "", seconds: float = 5.0) -> None:
        self._key = key.strip()
        self._base_url = base_url.strip()
        self._seconds = seconds

    def generate(self, name: str, description: str, reasoning: str, category: str) -> list[str]:
        """Return labels for an entry. Raises as `KeywordGenerator.generate` does."""
        if not self._key:
            raise KeywordError(f"there is no key for Anthropic; set {KEY_VARIABLE}")
        if not is_installed():
            raise KeywordError(f"the Anthropic SDK is not installed: {way_to_add('anthropic')}")
        entry = describe(name, description, reasoning, category)
        labels = parse_answer(self._answer(entry))
        if not labels:
            raise KeywordError(f"Anthropic's model {MODEL} answered without a usable label; try again later")
        return labels

    def _answer(self, entry: str) -> str:
        import anthropic

        try:
            return within(self._seconds, lambda: self._ask(entry))
        except (TimeoutError, anthropic.APITimeoutError):
            problem = f"did not answer within {self._seconds:g} seconds; try again later"
        except anthropic.APIConnectionError:
            problem = f"could not be reached; check the network and {URL_VARIABLE}"
        except anthropic.APIStatusError as error:
            status = error.status_code
            problem = f"{_REASONS.get(status, 'could not answer; try again later')} (HTTP {status})"
        except Exception as error:
            problem = f"gave an answer that is no message ({type(error).__name__}); check {URL_VARIABLE}"
        # Leave out the error's text and its chain: either may hold the key, in a refused or echoed header.
        raise KeywordError(f"Anthropic {problem}")

    def _ask(self, entry: str) -> str:
        import anthropic

        with anthropic.Anthropic(
            api_key=self._key,
            base_url=self._base_url or None,
            timeout=self._seconds,
            max_retries=0,
            # A redirect would take the key to another host.
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False, timeout=self._seconds),
        ) as client:
            message = client.messages.create(
                model=MODEL,
                max_tokens=_MOST_TOKENS,
                system=INSTRUCTIONS,
                messages=[{"role": "user", "content": entry}],
            )
        return "".join(block.text for block in message.content if block.type == "text")

"""What a model endpoint really does, before a memory depends on it. Run against any OpenAI-compatible server:

    python cluster/checks/llm_smoke.py --url http://127.0.0.1:8000/gen/v1 --model extractor \
        --embed-url http://127.0.0.1:8000/emb/v1 --embed-model embedder

Sends the requests that memforest-ray sends, each once, without its retries: 200 extractions (how many answers cannot
be used, and why), embeddings, the prefix cache's effect, latency with 1 to 256 calls in flight. Ends with the arguments
that make `memforest sim-llm` behave alike. Needs memforest-ray installed; the dialogue it sends is made up.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import openai

from memforest_ray.ambient import SystemClock, SystemRandom
from memforest_ray.facts.candidates import CellInput, TurnInput
from memforest_ray.facts.extraction import prompt_text
from memforest_ray.facts.replies import candidates_of
from memforest_ray.ids import CellId
from memforest_ray.models.asking import Unusable
from memforest_ray.models.chat import ChatRequest
from memforest_ray.models.connections import Endpoint
from memforest_ray.models.dialects import STOPS, Dialect
from memforest_ray.models.prompts.extract import EXTRACT
from memforest_ray.simulation.decoding import Speed

CLOCK, RANDOM = SystemClock(), SystemRandom()

BLANK_RUN = 64
"""White space in a row that no honest answer holds: a grammar that allows blanks was filled with them."""
GAIN_MIN = 1.05
"""A level of calls in flight is worth it while throughput grows by so much."""
PREFIX_TRIES = 8
SETTLING_MAX = 8
SETTLING_PAUSE_S = 0.2
"""How often, and after how long, the first request is made again of a server that is busy for a moment."""
PLACES = ("Turin", "Szeged", "Enugu", "Haifa", "Bergen", "Quito", "Osaka", "Tartu")
THINGS = ("a red bicycle", "two kittens", "a sewing machine", "a flat by the river", "a violin", "a pear tree")
PEOPLE = ("Ada", "Bela", "Chidi", "Dana", "Emil", "Farah")


@dataclass
class Answer:
    """What came of one request."""

    outcome: str
    """`ok`, or a fault in the words of `memforest sim-llm`: truncate, whitespace, junk, 429, 500, reset."""
    seconds: float
    prompt: int = 0
    cached: int = 0
    completion: int = 0


@dataclass
class Report:
    """All that was measured."""

    format: str = "json_schema"
    outcomes: dict[str, int] = field(default_factory=dict)
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0
    embedding: dict[str, Any] = field(default_factory=dict)
    prefix: dict[str, float] = field(default_factory=dict)
    latency: list[dict[str, float]] = field(default_factory=list)
    sim_llm: str = ""


def cell(number: int) -> CellInput:
    """A made-up exchange; each number gives another one."""
    who, whom = PEOPLE[number % len(PEOPLE)], PEOPLE[(number + 1) % len(PEOPLE)]
    place, thing = PLACES[number // 2 % len(PLACES)], THINGS[number // 3 % len(THINGS)]
    texts = (
        (who, f"I moved to {place} {number % 11 + 2} weeks ago and bought {thing}. It cost {40 + number} euros."),
        (whom, f"I could not: I am allergic to dust. I work at the harbour until {number % 9 + 1} October."),
    )
    start_ms = 1_714_550_400_000 + number * 3_600_000
    turns = [
        TurnInput(place, name, "user", text, start_ms + place * 60_000) for place, (name, text) in enumerate(texts)
    ]
    return CellInput(CellId(f"c{number:020x}"), tuple(turns), None, (who, whom))


class Server:
    """One chat model, spoken to as memforest-ray speaks to it."""

    def __init__(self, url: str, model: str, key: str, timeout_s: float, tokens_max: int | None) -> None:
        self.client = openai.AsyncOpenAI(base_url=url, api_key=key or "none", max_retries=0, timeout=timeout_s)
        self.endpoint = Endpoint(url, model, key)
        self.dialect = Dialect()
        self.tokens_max = tokens_max

    async def settle(self) -> None:
        """Find the form in which this server takes requests; what it fails to answer for a moment is asked again."""
        for number in itertools.count():
            body = self.dialect.body(self.endpoint, _request(cell(number), 16))
            try:
                await self.client.chat.completions.create(**body)
            except openai.BadRequestError as error:
                coarser = self.dialect.without(str(error))
                if coarser is None:
                    raise
                self.dialect = coarser
            except openai.APITimeoutError:
                raise
            except (openai.RateLimitError, openai.InternalServerError, openai.APIConnectionError):
                if number >= SETTLING_MAX:
                    raise
                await asyncio.sleep(SETTLING_PAUSE_S)
            else:
                return

    async def ask(self, number: int, tokens_max: int | None = None, system: str | None = None) -> Answer:
        """One request, sent once."""
        asked = cell(number)
        body = self.dialect.body(self.endpoint, _request(asked, tokens_max or self.tokens_max))
        if system is not None:
            body["messages"][0]["content"] = system
        began = CLOCK.elapsed()
        try:
            answer = await self.client.chat.completions.create(**body)
        except openai.RateLimitError:
            return Answer("429", CLOCK.elapsed() - began)
        except openai.InternalServerError:
            return Answer("500", CLOCK.elapsed() - began)
        except openai.APIConnectionError as error:
            silent = isinstance(error, openai.APITimeoutError)
            return Answer("silence" if silent else "reset", CLOCK.elapsed() - began)
        seconds = CLOCK.elapsed() - began
        choice, usage = answer.choices[0], answer.usage
        details = getattr(usage, "prompt_tokens_details", None)
        padded = getattr(choice, "stop_reason", None) in STOPS  # told by vLLM; elsewhere what was cut off is junk
        return Answer(
            "whitespace" if padded else outcome(choice.message.content or "", choice.finish_reason, asked),
            seconds,
            0 if usage is None else usage.prompt_tokens,
            getattr(details, "cached_tokens", None) or 0,
            0 if usage is None else usage.completion_tokens,
        )

    async def ask_all(self, numbers: Sequence[int], at_once: int) -> list[Answer]:
        """Requests with at most so many in flight."""
        places = asyncio.Semaphore(at_once)

        async def one(number: int) -> Answer:
            async with places:
                return await self.ask(number)

        return await asyncio.gather(*(one(number) for number in numbers))


def _request(asked: CellInput, tokens_max: int | None) -> ChatRequest:
    return EXTRACT.request(prompt_text(asked, asked.turns), tokens_max=tokens_max)


def outcome(text: str, finish: str, asked: CellInput) -> str:
    """Whether an answer can be used, else in which way not."""
    if " " * BLANK_RUN in text.replace("\n", " ").replace("\t", " "):
        return "whitespace"
    if finish == "length":
        return "truncate"
    try:
        value = json.loads(text)
        candidates_of(value, asked.turns, asked.zone)
    except (ValueError, Unusable):
        return "junk"
    return "ok"


async def extractions(server: Server, report: Report, calls: int, at_once: int) -> None:
    """How many answers can be used."""
    answers = await server.ask_all(range(calls), at_once)
    report.outcomes = dict(Counter(answer.outcome for answer in answers))
    told = [answer for answer in answers if answer.completion]
    report.prompt_tokens = statistics.mean(answer.prompt for answer in told) if told else 0.0
    report.completion_tokens = statistics.mean(answer.completion for answer in told) if told else 0.0
    say(f"{calls} extractions ({server.dialect.format}): {_shares(report.outcomes, calls)}")
    say(f"tokens a call: {report.prompt_tokens:.0f} in, {report.completion_tokens:.0f} out")


def _shares(outcomes: dict[str, int], calls: int) -> str:
    return ", ".join(f"{name} {count} ({count / calls:.1%})" for name, count in sorted(outcomes.items()))


async def prefix_cache(server: Server, report: Report) -> None:
    """Time of a one-token answer behind a beginning that is new each time, and behind one that is known."""
    await server.ask(0, 1)
    fresh = [await server.ask(n, 1, f"{RANDOM.nonce()} {EXTRACT.system}") for n in range(PREFIX_TRIES)]
    known = [await server.ask(1000 + n, 1) for n in range(PREFIX_TRIES)]
    new_s, known_s = (statistics.median(each.seconds for each in group) for group in (fresh, known))
    cached = sum(each.cached for each in known) / max(1, sum(each.prompt for each in known))
    report.prefix = {"new_s": round(new_s, 4), "known_s": round(known_s, 4), "cached_share": round(cached, 3)}
    effect = f"{new_s / known_s:.1f} times as fast" if known_s < new_s else "no effect"
    times = f"first token {new_s * 1e3:.0f} ms behind a new beginning, {known_s * 1e3:.0f} ms behind a known one"
    say(f"prefix cache: {times} ({effect}, {cached:.0%} cached)")


async def latency(server: Server, report: Report, levels: Sequence[int]) -> None:
    """Mean time of an extraction, and tokens a second of all, by calls in flight."""
    say(f"{'in flight':>10} {'mean s':>8} {'p95 s':>8} {'tokens/s':>9} {'failed':>7}")
    for level in levels:
        began = CLOCK.elapsed()
        answers = await server.ask_all(range(2000, 2000 + max(2 * level, 4)), level)
        wall_s = CLOCK.elapsed() - began
        # An answer that ran to its limit is as long as the limit, not as the model is slow.
        done = [each for each in answers if each.outcome == "ok"] or [each for each in answers if each.completion]
        spent = sorted(answer.seconds for answer in done) or [float("nan")]
        row = {
            "in_flight": level,
            "mean_s": round(statistics.mean(spent), 4),
            "p95_s": round(spent[int(0.95 * (len(spent) - 1))], 4),
            "tokens_per_s": round(sum(answer.completion for answer in done) / wall_s, 1),
            "failed": len(answers) - len(done),
            "slower": round(_slower(done, level), 3),
        }
        report.latency.append(row)
        numbers = (level, row["mean_s"], row["p95_s"], row["tokens_per_s"], row["failed"])
        say("{:>10} {:>8.2f} {:>8.2f} {:>9.0f} {:>7}".format(*numbers))


def _slower(done: Sequence[Answer], level: int) -> float:
    """How many times as long these took as the simulated server's default model would."""
    speed = Speed()
    predicted = 0.0
    for each in done:
        context = level * (each.prompt + each.completion // 2)
        uncached = max(1, each.prompt - max(each.cached, EXTRACT.tokens))
        predicted += speed.request_s + speed.prompt_s * uncached + each.completion * speed.step(level, context)
    return sum(each.seconds for each in done) / predicted if predicted else 0.0


async def embeddings(client: openai.AsyncOpenAI, model: str, report: Report, calls: int) -> None:
    """Dimension, length, whether a text has one vector, and texts a second in batches of 32."""
    texts = [f"{turn.speaker}: {turn.text}" for number in range(calls) for turn in cell(number).turns]
    batches = [texts[start : start + 32] for start in range(0, len(texts), 32)]
    first = await client.embeddings.create(model=model, input=texts[:1], encoding_format="float")
    began = CLOCK.elapsed()
    answers = await asyncio.gather(
        *(client.embeddings.create(model=model, input=batch, encoding_format="float") for batch in batches)
    )
    wall_s = CLOCK.elapsed() - began
    rows = [item.embedding for answer in answers for item in answer.data]
    lengths = [sum(number * number for number in row) ** 0.5 for row in rows]
    alone, batched = first.data[0].embedding, rows[0]
    scale = (sum(number * number for number in alone) ** 0.5) * lengths[0]
    cosine = sum(a * b for a, b in zip(alone, batched, strict=True)) / scale if scale else 0.0
    report.embedding = {
        "dimension": len(rows[0]),
        "length_min": round(min(lengths), 4),
        "length_max": round(max(lengths), 4),
        "cosine_alone_and_in_batch": round(cosine, 6),
        "texts_per_s": round(len(texts) / wall_s, 1),
    }
    say("embeddings: " + ", ".join(f"{name} {value}" for name, value in report.embedding.items()))


def simulated(report: Report, calls: int) -> str:
    """The arguments of `memforest sim-llm` that behave like what was measured."""
    slots, best = 0.0, 0.0
    for row in report.latency:
        if row["tokens_per_s"] >= GAIN_MIN * best:
            slots, best = row["in_flight"], row["tokens_per_s"]
    slower = statistics.median(row["slower"] for row in report.latency)
    faults = ",".join(f"{name}={count / calls:.4g}" for name, count in sorted(report.outcomes.items()) if name != "ok")
    words = ["memforest sim-llm", f"--slots {slots:g}", f"--slower {max(slower, 0.001):.3g}"]
    words.append(f"--tokens {report.completion_tokens:.0f}")
    return " ".join([*words, f"--faults {faults}"] if faults else words)


def say(line: str) -> None:
    """One line of the report."""
    sys.stderr.write(line + "\n")


def parser() -> argparse.ArgumentParser:
    """What the program may be told."""
    made = argparse.ArgumentParser(prog="llm_smoke.py", description="Measure an OpenAI-compatible endpoint.")
    made.add_argument("--url", required=True, metavar="URL", help="of the chat model, ends in /v1")
    made.add_argument("--model", default="", metavar="NAME", help="the one that is served unless given")
    made.add_argument("--embed-url", default="", metavar="URL", help="of the embedding model; none: left out")
    made.add_argument("--embed-model", default="", metavar="NAME")
    made.add_argument(
        "--key-variable", default="OPENAI_API_KEY", metavar="NAME", help="environment variable of the key"
    )
    made.add_argument("--calls", type=int, default=200, metavar="N", help="extractions (200)")
    made.add_argument("--at-once", type=int, default=32, metavar="N", help="extractions in flight (32)")
    made.add_argument("--tokens-max", type=int, metavar="N", help="of an answer (as many as memforest-ray allows)")
    made.add_argument("--in-flight-max", type=int, default=256, metavar="N", help="highest level of latency (256)")
    made.add_argument("--timeout", type=float, default=300.0, metavar="SECONDS", help="of one call (300)")
    made.add_argument("--json", action="store_true", help="all that was measured, as one JSON object on stdout")
    return made


async def _served(client: openai.AsyncOpenAI) -> str:
    """The first model that an endpoint names."""
    return (await client.models.list()).data[0].id


async def measure(given: argparse.Namespace) -> Report:
    """All checks, one after the other."""
    key, report = os.environ.get(given.key_variable, ""), Report()
    server = Server(given.url, given.model, key, given.timeout, given.tokens_max)
    async with server.client:
        if not given.model:
            server.endpoint = Endpoint(given.url, await _served(server.client), key)
        await server.settle()
        report.format = server.dialect.format
        await extractions(server, report, given.calls, given.at_once)
        if given.embed_url:
            async with openai.AsyncOpenAI(base_url=given.embed_url, api_key=key or "none") as client:
                await embeddings(client, given.embed_model or await _served(client), report, given.calls)
        await prefix_cache(server, report)
        await latency(server, report, [2**power for power in range(9) if 2**power <= given.in_flight_max])
    report.sim_llm = simulated(report, given.calls)
    return report


def main(arguments: Sequence[str]) -> int:
    """Measure and tell. The exit code: 0; 3 when more than one answer in ten cannot be used; 4 when none comes."""
    given = parser().parse_args(arguments)
    try:
        report = asyncio.run(measure(given))
    except openai.APIError as error:
        say(f"{given.url}: {error} ({type(error.__cause__ or error).__name__}); nothing was measured")
        return 4
    sys.stdout.write((json.dumps(asdict(report)) if given.json else report.sim_llm) + "\n")
    return 0 if report.outcomes.get("ok", 0) >= 0.9 * given.calls else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

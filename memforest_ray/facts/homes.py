"""Homes: whether what somebody "moved to" is a place to live in, or a tool, a team, a day.

"We moved to Miami" and "We moved to Kafka" have one grammar, and no list of all towns is at hand. A move that is missed
leaves an older home as the current one, a tool that is taken for a town is current nonsense; both are wrong, the second
looks worse. So the name must look like a town's and be none of the well-known names that are none, and where "we" moved
something must speak for a home: words of home in what was said, or when it was, or where from. Words of software speak
against it.
"""

import re
from typing import Final

from memforest_ray.facts.words import word_set

__all__ = ["is_home", "names_no_place"]

_PLACE_WORD: Final = re.compile(
    r"(?:Mc|Mac|O'|D'|De|La|Le|El)?[^\W\d_][^\W\d_A-Z]+(?:[-'][^\W\d_]?[^\W\d_A-Z]*)*\.?|of|de|and|&"
)
"""A word of a town's name: "Graz", "St.", "McKinney", "Stoke-on-Trent"; no digits, no capitals within."""
_SHORT_PLACES: Final = word_set("la nyc ny dc sf uk us usa uae nj nz d.c u.s u.k l.a")
_STATE: Final = re.compile(r", ?(?:[A-Z]{2}|[A-Z][a-z]+(?: [A-Z][a-z]+)?)$")
_NO_PLACES: Final = word_set("""
    airtable amazon android angular ansible apache apple arch argo arm asana astro atlassian  azure bash bazel
    bigquery bitbucket bitcoin bitwarden bootstrap buildkite canva cargo cassandra canvas celery chrome chromium circle
    clojure cloudflare cobol codeberg confluence consul copilot couch cursor cypress datadog dbt debian deno discord
    django docker dropbox duckdb edge elastic elasticsearch elixir emacs erlang ethereum evernote excel fargate fastapi
    fedora figma firebase firefox flask flink flutter fortran freebsd gatsby gemini gerrit gitea github gitlab gmail
    google gradle grafana graphite groovy gulp hadoop haskell helm heroku hetzner hibernate honeycomb hubspot
    instagram intellij ios jaeger java javascript jenkins jest jira julia jupyter kafka keycloak kibana kotlin
    kubernetes lambda laravel linear linkedin linux linode loki looker mac mastodon matlab mattermost maven medium
    mercurial metabase microsoft miro mongo mysql neovim netlify netsuite next nginx node nomad notion npm nuxt
    numpy obsidian octopus okta opensearch oracle outlook pandas paypal perl php phoenix-framework plausible playwright
    podman polars postgres postgresql posthog powershell prettier prisma prometheus pulsar pulumi pytest python
    pytorch quarkus quickbooks rails react redis redshift redux render replit rollup ruby rust safari salesforce sap
    scala scrum selenium sentry sharepoint shopify signal skype slack snowflake solaris solr spark splunk spotify
    spring sqlite squarespace stripe substack supabase svelte swift symfony tableau tailwind teams telegram temporal
    tensorflow terraform threads tiktok todoist trello turborepo twitter typescript ubuntu unix vercel vim vite vue
    wayland webflow webpack whatsapp wikipedia windows wordpress yarn youtube zapier zig zoom zulip agile kanban
    monday tuesday wednesday thursday friday saturday sunday january february april june july august september
    october november december spring summer autumn winter english french german spanish chinese japanese italian
    marketing sales engineering finance accounting support operations legal research design product management
    chapter phase plan stage step round part level track group division grade page slide room table floor act scene
    plans version option section item question topic
    aws gcp ibm hr it qa pr ux ui ml ai bi ops dev rd sql html css sas spss crm erp api npm ci cd ide pc tv vr ssd usb
    usd eur gbp pdf csv json xml yaml
""")
"""Folded first words of names that are no town's: tools, days, months, languages, departments, parts of a series."""
_WORK: Final = re.compile(
    r"\b(?:teams?|stack|migrat\w+|servers?|databases?|cloud|back-?end|front-?end|code(?:base)?|coding|repos?(?:itor\w+)?"
    r"|deploy\w*|pipelines?|frameworks?|software|tool(?:s|ing)?|vendors?|sprints?|docs|apis?|ci|builds?|clusters?"
    r"|production|microservices?|devops|platforms?|hosting|ide|compilers?|logging|monitoring|spreadsheets?|engineers"
    r"|developers|vpn|payroll|crm|meetings?|stand-?ups?|league|division|agenda|slides?|data|workflows?|subscriptions?"
    r"|apps?|websites?|e-?mails?|calendars?|messengers?|licen[sc]es?|tickets|containers?|queues?|branch(?:es)?)\b",
    re.IGNORECASE,
)
_HOME: Final = re.compile(
    r"\b(?:homes?|house|apartment|flat|condo|cottage|townhouse|neighbou?rhood|neighbou?rs?|city|town|village|suburbs?"
    r"|countryside|coast|beach|kids?|children|daughters?|sons?|baby|wife|husband|family|parents|mom|mum|dad"
    r"|mother|father|in-laws|grandparents|schools?|rent|mortgage|landlord|landlady|leases?|living|lived?"
    r"|unpack\w*|movers|moving (?:van|truck|boxes)|boxes|garden|yard|bedrooms?|kitchen|weather|warmer"
    r"|settl(?:ed|ing))\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"\b(?:ago|last|this (?:week|month|year|spring|summer|fall|autumn|winter|morning)|yesterday|today|just|finally"
    r"|recently|since|when)\b"
    r"|\b(?:in|on|around|by|after) (?:(?:early|late|mid) )?(?:(?:19|20)\d\d|(?-i:January|February|March"
    r"|April|May|June|July|August|September|October|November|December))",
    re.IGNORECASE,
)
_AWAY: Final = re.compile(r"\b(?:relocated|moved (?:back|over|out|away|down|up|here))\b", re.IGNORECASE)
_WHENCE: Final = re.compile(r"\bfrom (\S+)", re.IGNORECASE)


def names_no_place(name: str, *, capitals: bool = False) -> bool:
    """Whether a name is surely no town's: by its form ("GitHub", "S3"), or since everybody knows it.

    A town or a county after it says what it is ("Spring, Texas"). With `capitals` a word of nothing but capitals may be
    a town's: of somebody who moved, "SLC" or "PARIS" is.
    """
    words = [word.strip(",") for word in name.split()]
    if not words or (_is_known(words[0]) and (_STATE.search(name) is None or _is_known(words[-1]))):
        return True
    *most, last = words
    ended = bool(_STATE.search(name)) or last.lower().rstrip(".") in _SHORT_PLACES or _is_formed(last, capitals)
    return not (ended and all(_is_formed(word, capitals) for word in most))


def _is_known(word: str) -> bool:
    return word.lower().strip(".") in _NO_PLACES


def _is_formed(word: str, capitals: bool) -> bool:
    """Whether a word has the form of a town's."""
    return _PLACE_WORD.fullmatch(word) is not None or (capitals and word.isalpha() and word.isupper())


def is_home(place: str, clause: str, said: str) -> bool:
    """Whether "we moved to `place`", said in `clause` of `said`, tells of where people live."""
    whence = _WHENCE.search(clause)
    if names_no_place(place) or (whence and names_no_place(whence[1])):
        return False
    if _HOME.search(clause):
        return True
    if _WORK.search(said):
        return False
    signs = (_AWAY.search(clause), _HOME.search(said), _WHEN.search(clause), _STATE.search(place))
    return whence is not None or any(signs)

"""The shape of a base's file, as numbered steps; only ever appended to."""

from __future__ import annotations

APPLICATION_ID = 0x7A68696B
"""`zhik` in the file's header, so that another SQLite file is never taken for a base."""

SHIFT = 20
"""A chunk's id is its document's id shifted left by this, plus its ordinal; so is a text piece's. The document of a
search result is thus known without a look at another table, and ids order as the text does."""

MAX_PIECES = 1 << SHIFT

# Token characters beyond letters, digits and everything that is not ASCII (which the tokenizer takes as they are):
# the marks that the analyzer leaves inside a token. Everything else separates, and folding has been done before.
_TOKENIZER = "ascii tokenchars '-_.+#&@:' tokenchars ''''"

VECTOR_GENERATION = "vector_generation"
"""Key of the manifest; its value, a random one, is new with every commit that changed a vector. A count would be the
same again in a file that was made anew or put back from a copy."""

PACK_ROWS = 4096
"""How many vectors a pack has room for: some of it is read anew when one of them changes."""

FIELDS = ("body", "title", "heading", "name")


def _counting(event: str, row: str, sign: str) -> str:
    return f"""CREATE TRIGGER {row}_totals_on_{event.lower()} AFTER {event} ON documents BEGIN
        UPDATE totals SET
            documents = documents {sign} ({row}.state = 'active'),
            deprecated = deprecated {sign} ({row}.state = 'deprecated'),
            chunks = chunks {sign} {row}.chunk_count,
            tokens = tokens {sign} {row}.token_count,
            chars = chars {sign} {row}.chars;
        END"""


def _counting_active(event: str, row: str, sign: str) -> str:
    return f"""CREATE TRIGGER {row}_totals_on_{event.lower()} AFTER {event} ON documents BEGIN
        UPDATE totals SET
            documents = documents {sign} ({row}.state = 'active'),
            deprecated = deprecated {sign} ({row}.state = 'deprecated'),
            chunks = chunks {sign} {row}.chunk_count * ({row}.state = 'active'),
            tokens = tokens {sign} {row}.token_count * ({row}.state = 'active'),
            chars = chars {sign} {row}.chars * ({row}.state = 'active');
        END"""


STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE roots (root_id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
        """CREATE TABLE documents (
            doc_id INTEGER PRIMARY KEY,
            root_id INTEGER NOT NULL REFERENCES roots,
            path TEXT NOT NULL,         -- relative to the root, / between parts; unreadable bytes as \\xNN
            path_raw BLOB,              -- the name's own bytes, only where they are not UTF-8
            path_key TEXT NOT NULL,     -- NFC and case-folded, for filters
            title TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'deprecated')),
            size_bytes INTEGER NOT NULL,
            mtime_ns INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            format TEXT NOT NULL,
            encoding TEXT NOT NULL,
            chars INTEGER NOT NULL,
            chunk_count INTEGER NOT NULL,
            token_count INTEGER NOT NULL,
            page_count INTEGER NOT NULL,
            metadata TEXT NOT NULL,     -- JSON object
            links TEXT NOT NULL,        -- JSON array
            pages TEXT NOT NULL,        -- JSON array of [page_no, char_start, char_end]
            warnings TEXT NOT NULL,     -- JSON array
            indexed_at TEXT NOT NULL,   -- ISO 8601, UTC
            UNIQUE (root_id, path)
        )""",
        "CREATE INDEX documents_by_sha256 ON documents (sha256)",
        "CREATE INDEX deprecated_documents ON documents (doc_id) WHERE state = 'deprecated'",
        # Sums over the documents, kept by triggers: a search needs them and must not read every document for it.
        "CREATE TABLE totals (documents INTEGER, deprecated INTEGER, chunks INTEGER, tokens INTEGER, chars INTEGER)",
        "INSERT INTO totals VALUES (0, 0, 0, 0, 0)",
        _counting("INSERT", "new", "+"),
        _counting("DELETE", "old", "-"),
        _counting("UPDATE", "old", "-"),
        _counting("UPDATE", "new", "+"),
        """CREATE TABLE sections (
            section_id INTEGER PRIMARY KEY,
            doc_id INTEGER NOT NULL REFERENCES documents,
            chain TEXT NOT NULL         -- JSON array of headings, outermost first
        )""",
        "CREATE INDEX sections_by_document ON sections (doc_id)",
        """CREATE TABLE texts (
            text_id INTEGER PRIMARY KEY, -- doc_id << 20 | ordinal
            char_start INTEGER NOT NULL,
            line_start INTEGER NOT NULL, -- of the text, from 1
            body TEXT NOT NULL,
            line_numbers TEXT            -- JSON array: the file's line for each line here; NULL: they are the text's
        )""",
        """CREATE TABLE chunks (
            chunk_id INTEGER PRIMARY KEY, -- doc_id << 20 | ordinal
            section_id INTEGER REFERENCES sections,
            text_id INTEGER NOT NULL,     -- the piece of text it begins in
            char_start INTEGER NOT NULL,
            char_end INTEGER NOT NULL,
            line_start INTEGER NOT NULL,
            line_end INTEGER NOT NULL,
            page INTEGER,
            page_end INTEGER
        )""",
        f"""CREATE VIRTUAL TABLE lexical USING fts5(
            {", ".join(FIELDS)}, content='', contentless_delete=1, detail=full, tokenize="{_TOKENIZER}"
        )""",
        "CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(lexical, row)",
        # What a term costs to search, for the frequent ones only; refreshed when a run has changed the base much.
        "CREATE TABLE frequent_terms (term TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE ledger (
            root_id INTEGER NOT NULL REFERENCES roots,
            path TEXT NOT NULL,
            outcome TEXT NOT NULL,      -- failed, skipped, textless
            code TEXT NOT NULL,
            message TEXT NOT NULL,
            tries INTEGER NOT NULL DEFAULT 1,
            seen_at TEXT NOT NULL,
            PRIMARY KEY (root_id, path)
        ) WITHOUT ROWID""",
        "INSERT INTO lexical(lexical, rank) VALUES ('hashsize', 67108864)",
        "INSERT INTO lexical(lexical, rank) VALUES ('automerge', 0)",
    ),
    (
        "ALTER TABLE documents ADD COLUMN script TEXT NOT NULL DEFAULT 'latin'",
        # Equal texts of a script share a vector, so it belongs to a digest of what was embedded and not to a chunk.
        """CREATE TABLE embeddings (
            embedding_id INTEGER PRIMARY KEY, -- places it: pack id // 4096, row id % 4096
            digest BLOB NOT NULL UNIQUE,      -- 16 bytes (zhiku.ingest.embed)
            vector BLOB NOT NULL              -- float16, of length 1
        )""",
        "ALTER TABLE chunks ADD COLUMN embedding_id INTEGER",  # NULL: not embedded yet
        "CREATE INDEX chunks_by_embedding ON chunks (embedding_id)",
        # The same vectors as whole numbers, so that all of them can be read and compared at once.
        """CREATE TABLE packs (
            pack_id INTEGER PRIMARY KEY,
            vectors BLOB NOT NULL,      -- int8, 4096 rows
            scales BLOB NOT NULL,       -- float32: what a row's numbers are multiplied by
            scripts BLOB NOT NULL       -- uint8: 0 no vector, else 1 + place in zhiku.text.script.SCRIPTS
        )""",
    ),
    (
        "ALTER TABLE documents ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0",
        # Why a document is deprecated. It stays in the record, and out of full text, packs and totals.
        "ALTER TABLE documents ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE documents ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0",
        # 1 where only deprecated documents have the vector: then it counts as none in its pack.
        "ALTER TABLE embeddings ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0",
        # All that a run over unchanged files reads: without it, what stands before the last columns is stepped over.
        """CREATE INDEX looks_of_documents
            ON documents (root_id, state, doc_id, path, size_bytes, mtime_ns, ctime_ns, path_raw)""",
        "CREATE INDEX textless_documents ON documents (root_id) WHERE chunk_count = 0",
        # What a file that could not be read looked like, and what read it: it is not tried for ever.
        "ALTER TABLE ledger ADD COLUMN size_bytes INTEGER",
        "ALTER TABLE ledger ADD COLUMN mtime_ns INTEGER",
        "ALTER TABLE ledger ADD COLUMN ctime_ns INTEGER",
        "ALTER TABLE ledger ADD COLUMN reader TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX hidden_embeddings ON embeddings (embedding_id) WHERE hidden",
        *(
            f"DROP TRIGGER {row}_totals_on_{event}"
            for event, row in (("insert", "new"), ("delete", "old"), ("update", "old"), ("update", "new"))
        ),
        _counting_active("INSERT", "new", "+"),
        _counting_active("DELETE", "old", "-"),
        _counting_active("UPDATE", "old", "-"),
        _counting_active("UPDATE", "new", "+"),
    ),
)

RECORD = ("roots", "documents", "sections", "texts", "chunks", "embeddings", "ledger", "manifest")
"""The tables that hold what was read, in an order in which they can be filled; the others are derived from them."""

OLDEST_MIGRATED = 2
"""A file of an older schema must be built anew: what the second step added is made while documents are read."""

SCHEMA_VERSION = len(STEPS)

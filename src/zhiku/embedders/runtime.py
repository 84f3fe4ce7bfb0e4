"""How ONNX Runtime runs a model here."""

from __future__ import annotations

import onnxruntime


def session_options(threads: int) -> onnxruntime.SessionOptions:
    """Return options for a session that uses so many cores, and none while it waits."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, and told once
    # Threads that wait must not keep a core busy: indexing runs beside the user's own work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options

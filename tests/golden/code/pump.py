"""泵站控制 Pump control."""

import logging

log = logging.getLogger(__name__)


# 阀门只有两个状态。
# Opened slowly, closed at once.
class Valve:
    OPEN = 1

    def __init__(self, name):
        self.name = name
        self.state = 0

    @property
    def is_open(self):
        return self.state == self.OPEN

    class Journal:
        def note(self, text):
            log.info(text)

    retries = 3


def retry(times):
    def decorate(function):
        def again():
            return function()

        return again

    return decorate


def short(): return 1


if __name__ == "__main__":
    Valve("进水阀").is_open()

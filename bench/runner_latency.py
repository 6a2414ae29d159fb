#!/usr/bin/env python3
"""What a runner process adds to a create: the example of the stable tier in the server's process and in a runner, in turns.

  BACKPLANE=build/bin/backplane BACKPLANE_PLUGINS=build/lib/backplane/plugins bench/runner_latency.py [CREATES]

A Shelf has one callback (check, on the request's thread). A Box has two (admit and validate, on the plugin's threads), and validate asks
an informer. Both placements serve at the same time and are called in turns, so that what else the machine does hits both alike.
"""
import os
import statistics
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.path.insert(0, os.path.join(ROOT, 'tests/plugins'))
sys.path.insert(0, os.path.join(ROOT, 'tests/e2e'))

import stable_test as stable  # pylint: disable=wrong-import-position
from harness import PLUGINS, Server, wait_for  # pylint: disable=wrong-import-position


class Placed:
    """A server with the plugin in one place, and the times of its creates in microseconds."""

    def __init__(self, folder, *flags):
        self.server = Server('--plugin-dir=' + folder, *flags, plugin_dir=PLUGINS)
        self.connection = self.server.connect()
        self.times = {'Shelf': [], 'Box': []}

    def create(self, path, body):
        began = time.perf_counter()
        code, _, answer = self.server.request('POST', path, body, connection=self.connection)
        took = time.perf_counter() - began
        if code != 201:
            raise AssertionError(answer)
        return took * 1e6


def measure(places, creates):
    for placed in places.values():
        placed.create(stable.SHELVES, stable.shelf('all'))
        assert wait_for(lambda: placed.server.request('POST', stable.BOXES, stable.box('first', 'all'))[0] == 201)  # pylint: disable=cell-var-from-loop
    for i in range(creates):
        for placed in places.values():
            placed.times['Shelf'].append(placed.create(stable.SHELVES, stable.shelf('shelf-%d' % i, slots=3)))
            placed.times['Box'].append(placed.create(stable.BOXES, stable.box('box-%d' % i, 'all')))
            # The example's controller reads all boxes after each change.
            assert placed.server.request('DELETE', stable.BOXES + '/box-%d' % i, connection=placed.connection)[0] == 200


def main():
    creates = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        stable.compiled(folder, 'stable-c', 'gcc', '-std=c11', '-O2')
        places = {'in-process': Placed(folder), 'runner': Placed(folder, '--plugin-placement=stock=runner')}
        try:
            measure(places, creates)
        finally:
            for placed in places.values():
                placed.server.stop()
    print('kind   placement   p50 us  p99 us')
    for kind in ('Shelf', 'Box'):
        for name, placed in places.items():
            times = sorted(placed.times[kind])
            print('%-6s %-10s %7.0f %7.0f' % (kind, name, statistics.median(times), times[int(len(times) * 0.99)]))


if __name__ == '__main__':
    main()

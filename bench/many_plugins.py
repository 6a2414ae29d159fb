"""What a server costs that has many plugins: copies of a plugin of the stable tier with other names and other groups.

    bench/many_plugins.py [--plugins=200] [--rounds=5] [--storage-backend=rocksdb]

Prints, with the goal of each: the time to inspect and plan all files, the time that one plugin adds to a start whose files have been probed
before, and the memory that one idle plugin takes."""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests/e2e'))
from harness import BINARY, PLUGINS, Server, wait_for  # pylint: disable=wrong-import-position

MODEL = ROOT / 'tests/plugins/stable/stock-1.so'


def copies(folder, count):
    """The name has the same length everywhere in a copy, so that the file's offsets stay valid."""
    model = MODEL.read_bytes()
    for i in range(count):
        name = b's%04d' % i
        (folder / (name.decode() + '.so')).write_bytes(model.replace(b'stock', name).replace(b'Stock', name.upper()))


def planned(folder):
    begun = time.monotonic()
    done = subprocess.run([BINARY, 'plugin', 'list', '--plugin-dir', str(folder)], capture_output=True, text=True, check=True)
    return time.monotonic() - begun, done.stdout.count('Planned')


def memory(pid):
    """Bytes that are the process's own, shared pages in proportion."""
    text = pathlib.Path('/proc/%d/smaps_rollup' % pid).read_text(encoding='ascii')
    return int(re.search(r'^Pss: +(\d+) kB', text, re.M)[1]) * 1024


def settled(pid):
    """The memory once it has stopped changing."""
    sizes = [memory(pid)]

    def steady():
        sizes.append(memory(pid))
        return abs(sizes[-1] - sizes[-2]) < 64 * 1024 and abs(sizes[-1] - sizes[max(0, len(sizes) - 5)]) < 128 * 1024
    wait_for(steady, 20)
    return sizes[-1]


def processor_time(pid):
    fields = pathlib.Path('/proc/%d/stat' % pid).read_text(encoding='ascii').rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def started(folder, data, flags):
    """(seconds until ready, bytes, number of plugins, number of threads, CPU seconds until ready)"""
    begun = time.monotonic()
    with Server('--plugin-dir=' + str(folder), *flags, data_dir=data, plugin_dir=PLUGINS) as server:
        ready = time.monotonic() - begun
        used = processor_time(server.process.pid)
        running = sum(each['state'] == 'Committed' for each in server.request('GET', '/plugins')[2]['plugins'])
        size = settled(server.process.pid)
        threads = len(os.listdir('/proc/%d/task' % server.process.pid))
        server.terminate()
        return ready, size, running, threads, used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--plugins', type=int, default=200)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--storage-backend', default='rocksdb')
    options = parser.parse_args()
    flags = ['--storage-backend=' + options.storage_backend]
    folder = pathlib.Path(tempfile.mkdtemp(prefix='backplane-many-'))
    try:
        none, many = folder / 'none', folder / 'many'
        for path in (none, many, folder / 'few-data', folder / 'many-data'):
            path.mkdir()
        copies(many, options.plugins)
        plans = [(planned(none)[0], planned(many)) for _ in range(options.rounds)]
        if plans[0][1][1] != options.plugins:
            raise SystemExit('only %d of %d copies can be planned' % (plans[0][1][1], options.plugins))
        plan = min(with_all[0] for _, with_all in plans) - min(empty for empty, _ in plans)
        print('plan        %7.2f ms for %d plugins (goal: 50)' % (plan * 1e3, options.plugins))
        cold = started(many, str(folder / 'many-data'), flags)
        started(none, str(folder / 'few-data'), flags)
        few = [started(none, str(folder / 'few-data'), flags) for _ in range(options.rounds)]
        all_of = [started(many, str(folder / 'many-data'), flags) for _ in range(options.rounds)]
        added = all_of[0][2] - few[0][2]
        if added != options.plugins:
            raise SystemExit('only %d of %d copies run' % (added, options.plugins))

        def difference(rows, base, pick, best):
            return (best(row[pick] for row in rows) - best(row[pick] for row in base)) / added
        print('first start %7.2f ms for each plugin, with probes' % ((cold[0] - min(row[0] for row in few)) / added * 1e3))
        print('warm start  %7.2f ms for each plugin (goal: 1)' % (difference(all_of, few, 0, min) * 1e3))
        print('CPU         %7.2f ms of a warm start for each plugin' % (difference(all_of, few, 4, min) * 1e3))
        print('memory      %7.1f KiB for each plugin (goal: 300)' % (difference(all_of, few, 1, statistics.median) / 1024))
        print('threads     %7.2f for each plugin' % difference(all_of, few, 3, min))
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Reloads a plugin again and again while clients use its kind: requests that fail, events that a resumed watch lacks or repeats, and growth of memory.

  bench/reload_soak.py --tier native --reloads 1000 --rate 5000

Reads go over several connections, HTTP/1.1 with pipelining, from processes of their own, at the given rate if the machine can; writes change one
object after the other. Watches end with each reload and go on from their last resource version. The environment names the server as for the
tests: BACKPLANE and BACKPLANE_PLUGINS. Afterwards the same load runs for as long as the counted reloads have taken, without reloads: what memory grows
by then (histories of writes, the store's buffers) is not the reloads'. The exit code is 1 if a request has failed, an event was lost or came twice, or
the reloads have grown memory by more than 5 %."""
import argparse
import glob
import json
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, os.path.join(ROOT, 'tests/e2e'))
from harness import PLUGINS, Server, wait_for  # noqa: E402  pylint: disable=wrong-import-position

DEPTH = 16  # requests on their way on one connection
PAUSE = 0.2  # seconds between writes: each is kept in the history of the store and of the watch cache, whose memory is not the plugin's
WARM = 0.2  # part of the reloads before memory is first read: pools and caches fill once


class Native:
    """The plugin coordination of the tree."""
    name = 'coordination'
    path = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    kind = {'apiVersion': 'coordination.k8s.io/v1', 'kind': 'Lease', 'spec': {}}

    def __init__(self, folder):
        self.files = [shutil.copy(os.path.join(PLUGINS, 'coordination.so'), os.path.join(folder, 'coordination-%d.so' % n)) for n in (1, 2)]


class Stable:
    """The example in C, twice."""
    name = 'example.com/stock'
    path = '/apis/stock.example.com/v1/namespaces/default/shelves'
    kind = {'apiVersion': 'stock.example.com/v1', 'kind': 'Shelf', 'spec': {'slots': 3}}

    def __init__(self, folder):
        self.files = [os.path.join(folder, 'stock-%d.so' % n) for n in (1, 2)]
        source = os.path.join(ROOT, 'docs/examples/stable-c')
        for n, file in enumerate(self.files, 1):
            subprocess.run([os.environ.get('CC', 'gcc'), '-std=c11', '-O2', '-shared', '-fPIC', '-fvisibility=hidden', '-Wl,--build-id=0x0%d' % n,
                            '-I', os.path.join(ROOT, 'plugin-sdk/include'), '-I', source, '-o', file, os.path.join(source, 'stock.c')], check=True)


class Connection:
    """Pipelined GETs: the answers come in the order of the requests."""

    def __init__(self, server):
        raw = socket.create_connection(('127.0.0.1', server.port))
        self.socket = server.tls.wrap_socket(raw, server_hostname='127.0.0.1')
        self.file = self.socket.makefile('rb')

    def send(self, paths):
        self.socket.sendall(b''.join(b'GET %s HTTP/1.1\r\nHost: soak\r\n\r\n' % path for path in paths))

    def answer(self):
        """(code, body)"""
        code = int(self.file.readline().split(b' ')[1])
        size = None
        while (line := self.file.readline()) not in (b'\r\n', b''):
            if line.lower().startswith(b'content-length:'):
                size = int(line.split(b':')[1])
        if size is not None:
            return code, self.file.read(size)
        body = b''
        while (length := int(self.file.readline(), 16)) > 0:  # chunked
            body += self.file.read(length)
            self.file.readline()
        self.file.readline()
        return code, body


def read_until(server, paths, rate, connections, ended, results):
    """One process of readers; puts (answers, failures)."""
    opened = [Connection(server) for _ in range(connections)]
    answers, failures = 0, []
    begun = time.monotonic()
    while not ended.is_set():
        for connection in opened:
            connection.send([paths[(answers + n) % len(paths)] for n in range(DEPTH)])
        for connection in opened:
            for _ in range(DEPTH):
                try:
                    code, body = connection.answer()
                except (OSError, ValueError, IndexError) as error:
                    results.put((answers, failures + [repr(error)]))
                    return
                answers += 1
                if code != 200 and len(failures) < 100:
                    failures.append('%d %s' % (code, body[:200]))
        early = begun + answers / rate - time.monotonic()
        if early > 0:
            time.sleep(early)  # the pace of the load
    results.put((answers, failures))


class Watch(threading.Thread):
    """Follows one object through every reload. Its label `n` counts up by one with each write."""

    def __init__(self, server, path, version):
        super().__init__()
        self.server, self.path, self.version = server, path, version
        self.seen, self.problems, self.rounds, self.last = 0, [], 0, None

    def run(self):
        while self.last is None or self.seen < self.last:
            self.rounds += 1
            connection = self.server.connect(timeout=120)
            connection.request('GET', '%s?watch=true&allowWatchBookmarks=true&resourceVersion=%s&fieldSelector=metadata.name%%3Dwatched&timeoutSeconds=60' %
                               (self.path, self.version))
            response = connection.getresponse()
            if response.status != 200:
                self.problems.append('%d %s' % (response.status, response.read()[:200]))
                return
            self.follow(response)
            connection.close()

    def follow(self, response):
        while line := response.readline():
            event = json.loads(line)
            if event['type'] == 'ERROR':
                self.problems.append(str(event['object'])[:200])
                return
            metadata = event['object']['metadata']
            former, self.version = self.version, metadata['resourceVersion']
            if event['type'] == 'BOOKMARK':
                continue
            n = int(metadata.get('labels', {}).get('n', 0))
            # A controller's write of the status leaves the label as it is.
            if n not in (self.seen, self.seen + 1) or int(self.version) <= int(former):
                self.problems.append('%d at %s follows %d at %s' % (n, self.version, self.seen, former))
            self.seen = n
            if n == self.last:
                return


class Writer(threading.Thread):
    """Changes the watched object until the end."""

    def __init__(self, server, path):
        super().__init__()
        self.server, self.path = server, path
        self.ended, self.count, self.failures = threading.Event(), 0, []

    def run(self):
        connection = self.server.connect()
        while not self.ended.wait(PAUSE):
            patch = {'metadata': {'labels': {'n': str(self.count + 1)}}}
            code, _, answer = self.server.request('PATCH', self.path + '/watched', json.dumps(patch), {'Content-Type': 'application/merge-patch+json'}, connection=connection)
            if code == 200:
                self.count += 1
            else:
                self.failures.append('%d %s' % (code, answer))


def mapped_builds(server, plugin):
    """How many builds of the plugin have their code mapped: the one that runs, and those that retire."""
    part = '/' + plugin.name.replace('/', '_') + '-'
    with open('/proc/%d/maps' % server.process.pid, encoding='utf-8') as f:
        return len({word for line in f for word in line.split() if part in word})


def wait_for_unmapped(server, plugin):
    """Waits until the code of former builds is unmapped, a minute after their last use, and the server has returned free memory to the system,
    which it does every ten seconds; how many builds are still mapped two minutes later."""
    wait_for(lambda: mapped_builds(server, plugin) == 1, 180)
    time.sleep(12)
    return mapped_builds(server, plugin) - 1


def memory(server):
    """Resident bytes of the server."""
    with open('/proc/%d/statm' % server.process.pid, encoding='ascii') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def run(tier, reloads, rate, processes=2, connections=4, watches=4, settled=True):
    """The measured values. `settled`: memory is read when former builds are unmapped, which takes two minutes more."""
    folder = tempfile.mkdtemp(prefix='backplane-soak-')
    plugin = tier(folder)
    plugins = os.path.join(folder, 'plugins')
    os.mkdir(plugins)
    for path in glob.glob(os.path.join(PLUGINS, '*.so')):
        if os.path.basename(path) != plugin.name + '.so':
            os.symlink(path, os.path.join(plugins, os.path.basename(path)))
    shutil.copy(plugin.files[0], os.path.join(plugins, 'soaked.so'))
    server = Server(plugin_dir=plugins)
    try:
        return soak(server, plugin, reloads, rate, processes, connections, watches, settled)
    finally:
        server.stop()
        shutil.rmtree(folder)


def soak(server, plugin, reloads, rate, processes, connections, watches, settled):
    def ok(code, method, path, body):
        got = server.request(method, path, body)
        if got[0] != code:
            raise AssertionError('%s %s: %s' % (method, path, got))
        return got[2]
    ok(201, 'POST', plugin.path, {**plugin.kind, 'metadata': {'name': 'read'}})
    version = ok(201, 'POST', plugin.path, {**plugin.kind, 'metadata': {'name': 'watched'}})['metadata']['resourceVersion']
    context = multiprocessing.get_context('fork')
    ended, results = context.Event(), context.Queue()
    paths = [path.encode() for path in (plugin.path + '/read', plugin.path + '/watched', plugin.path, plugin.path.split('/namespaces/', maxsplit=1)[0])]
    readers = [context.Process(target=read_until, args=(server, paths, rate / processes, connections, ended, results)) for _ in range(processes)]
    for reader in readers:
        reader.start()
    writer = Writer(server, plugin.path)
    watching = [Watch(server, plugin.path, version) for _ in range(watches)]
    for thread in [writer, *watching]:
        thread.start()
    begun, first, peak, times, control = time.monotonic(), memory(server), 0, [], server.connect(timeout=300)
    counted = begun
    for n in range(reloads):
        if n == int(reloads * WARM):
            if settled:
                wait_for_unmapped(server, plugin)
            first, counted = memory(server), time.monotonic()
        at = time.monotonic()
        code, _, answer = server.request('POST', '/plugins/upgrade', {'name': plugin.name, 'file': plugin.files[(n + 1) % 2]}, connection=control)
        if code != 200:
            raise AssertionError('reload %d: %s %s\n%s' % (n, code, answer, server.text()[-3000:]))
        times.append(time.monotonic() - at)
        peak = max(peak, memory(server))
    left = wait_for_unmapped(server, plugin) if settled else None
    last, seconds = memory(server), time.monotonic() - begun
    if settled:
        time.sleep(time.monotonic() - counted)
    load_alone = memory(server) - last
    whole = time.monotonic() - begun
    ended.set()
    outcomes = [results.get(timeout=60) for _ in readers]
    for reader in readers:
        reader.join()
    writer.ended.set()
    writer.join()
    # One more write ends the watches, which have then seen everything.
    for watch in watching:
        watch.last = writer.count + 1
    ok_writer = server.request('PATCH', plugin.path + '/watched', json.dumps({'metadata': {'labels': {'n': str(writer.count + 1)}}}),
                               {'Content-Type': 'application/merge-patch+json'})
    for watch in watching:
        watch.join(120)
    failures = [each for _, some in outcomes for each in some] + writer.failures + ([] if ok_writer[0] == 200 else [str(ok_writer)])
    return {'reloads': reloads, 'seconds': round(seconds, 1), 'requests': sum(count for count, _ in outcomes) + writer.count,
            'requests per second': round((sum(count for count, _ in outcomes) + writer.count) / whole), 'failed requests': len(failures), 'failures': failures[:5],
            'reload p50 ms': round(sorted(times)[len(times) // 2] * 1000, 1), 'reload max ms': round(max(times) * 1000, 1),
            'former builds mapped': left, 'writes': writer.count, 'watches': len(watching), 'resumed': sum(watch.rounds - 1 for watch in watching),
            'watch problems': [each for watch in watching for each in watch.problems][:5] + ['%d of %d events' % (watch.seen, watch.last) for watch in watching if watch.seen != watch.last],
            'memory MiB': '%.1f, then %.1f; at most %.1f' % (first / 2**20, last / 2**20, peak / 2**20), 'growth %': round((last / first - 1) * 100, 1),
            'load alone MiB': round(load_alone / 2**20, 1), 'growth by reloads %': round((last - first - load_alone) / first * 100, 1)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    arguments.add_argument('--tier', choices=('native', 'stable'), default='native')
    arguments.add_argument('--reloads', type=int, default=1000)
    arguments.add_argument('--rate', type=float, default=5000, help='requests per second')
    arguments.add_argument('--processes', type=int, default=2)
    options = arguments.parse_args()
    measured = run(Native if options.tier == 'native' else Stable, options.reloads, options.rate, options.processes)
    for name, value in measured.items():
        print('%-20s %s' % (name, value))
    sys.exit(bool(measured['failed requests'] or measured['watch problems'] or measured['growth by reloads %'] > 5 or measured['former builds mapped']))


if __name__ == '__main__':
    main()

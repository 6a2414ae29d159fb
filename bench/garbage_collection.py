#!/usr/bin/env python3
"""The garbage collector with many objects: memory of an object, CPU while nothing changes, time of a cascade.

    bench/garbage_collection.py [BUILD] [OBJECTS] [OWNERS]

Writes OBJECTS config maps (100,000), the same number for each of OWNERS owners (10), starts a server on the store without and with the collector, and
deletes an owner with propagationPolicy=Background. The memory includes the metrics and tasks of the controller."""
import json
import os
import pathlib
import re
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
OBJECTS, OWNERS = (int(sys.argv[number]) if len(sys.argv) > number else default for number, default in ((2, 100_000), (3, 10)))
os.environ.setdefault('BACKPLANE', str(BUILD / 'bin/backplane'))
os.environ.setdefault('BACKPLANE_PLUGINS', str(BUILD / 'lib/backplane/plugins'))
sys.path.insert(0, str(ROOT / 'tests/e2e'))
import harness  # noqa: E402

MAPS = '/api/v1/namespaces/default/configmaps'
WRITERS = 4


def owned(name, owner):
    return {'metadata': {'name': name, 'ownerReferences': [{'apiVersion': 'v1', 'kind': 'ConfigMap', 'name': owner['metadata']['name'],
                                                            'uid': owner['metadata']['uid']}]}, 'data': {'key': 'value'}}


def fill(server):
    owners = [server.request('POST', MAPS, harness.configmap('owner-%d' % number))[2] for number in range(OWNERS)]

    def write(first):
        connection = server.connect()
        for number in range(first, OBJECTS, WRITERS):
            code, _, answer = server.request('POST', MAPS, owned('map-%06d' % number, owners[number % OWNERS]), connection=connection)
            assert code == 201, answer

    threads = [threading.Thread(target=write, args=(first,)) for first in range(WRITERS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def memory(server):
    with open('/proc/%d/status' % server.process.pid, encoding='ascii') as file:
        return int(re.search(r'RssAnon:\s+(\d+)', file.read())[1]) * 1024


def processor_seconds(server):
    with open('/proc/%d/stat' % server.process.pid, encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def settled(server):
    """The memory after the server has returned what is free, which it does every 30 seconds."""
    time.sleep(65)
    return memory(server)


def idle_milliseconds(server):
    before = processor_seconds(server)
    time.sleep(20)
    return (processor_seconds(server) - before) * 1000


def read_all(server):
    """The same reads in both servers, so that the objects in their caches do not count for the collector."""
    connection = server.connect(timeout=600)
    connection.request('GET', MAPS + '?watch=1&timeoutSeconds=600&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan')
    response = connection.getresponse()
    while json.loads(response.readline())['type'] != 'BOOKMARK':
        pass
    connection.close()


def cascade(server):
    _, _, listed = server.request('GET', MAPS + '?limit=1')
    connection = server.connect(timeout=600)
    connection.request('GET', MAPS + '?watch=1&timeoutSeconds=600&resourceVersion=' + listed['metadata']['resourceVersion'])
    response = connection.getresponse()
    began, used = time.monotonic(), processor_seconds(server)
    code, _, answer = server.request('DELETE', MAPS + '/owner-0', {'propagationPolicy': 'Background'})
    assert code == 200, answer
    deleted = 0
    while deleted < OBJECTS // OWNERS + 1:
        deleted += json.loads(response.readline())['type'] == 'DELETED'
    return time.monotonic() - began, processor_seconds(server) - used


def main():
    with tempfile.TemporaryDirectory(prefix='backplane-garbage-') as folder:
        with harness.Server(data_dir=folder) as server:
            fill(server)
            server.terminate()
        with harness.Server(data_dir=folder) as server:
            read_all(server)
            without, idle = settled(server), idle_milliseconds(server)
            server.terminate()
        with harness.Server('--controllers=garbagecollector', data_dir=folder) as server:
            read_all(server)
            memory_with = settled(server)
            print('memory: %.1f MiB without the collector, %.1f MiB with it, %d bytes an object' % (
                without / 2**20, memory_with / 2**20, (memory_with - without) / OBJECTS))
            print('processor in 20 s without a change: %.0f ms without the collector, %.0f ms with it' % (idle, idle_milliseconds(server)))
            print('%d objects deleted after their owner in %.1f s, %.1f s of the processor' % ((OBJECTS // OWNERS,) + cascade(server)))


if __name__ == '__main__':
    main()

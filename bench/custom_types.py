#!/usr/bin/env python3
"""The cost of custom types: memory of an idle one, time until it is served, and time until very many of real size are served.

    bench/custom_types.py [--build BUILD] cost [--count N] [--bytes B]     memory a type, before and after a restart
    bench/custom_types.py [--build BUILD] served [--count N]               from creation to served, alone and in addition to N others
    bench/custom_types.py [--build BUILD] many [--count N] [--bytes B]     N of B bytes: until all are served and in the documents; a start
    bench/custom_types.py [--build BUILD] metrics [--count N]              GET /metrics with N types that have one object each

A definition's size is about B bytes of schema (0: the smallest), of objects, lists, maps and described members as generated ones have."""
import argparse
import functools
import json
import os
import pathlib
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'tests/e2e'))
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
AGGREGATED = {'Accept': 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'}
CLIENTS = 4
GROUPS = 100
SCHEMAS = 16  # different schemas; each definition has one of them


def text(seed, words):
    return ' '.join('word%d' % ((seed * 7919 + i * 104729) % 997) for i in range(words)) + '.'


def container(seed):
    """About four kilobytes of schema."""
    string = {'type': 'string', 'description': text(seed, 20)}
    names = {'type': 'object', 'description': text(seed + 1, 24), 'required': ['name'], 'properties': {
        'name': {'type': 'string', 'description': text(seed + 2, 16), 'default': '', 'maxLength': 253},
        'optional': {'type': 'boolean', 'description': text(seed + 3, 12)}, 'key': string}, 'x-kubernetes-map-type': 'atomic'}
    quantity = {'anyOf': [{'type': 'integer'}, {'type': 'string'}], 'x-kubernetes-int-or-string': True,
                'pattern': r'^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'}
    return {'type': 'object', 'description': text(seed + 4, 20), 'properties': {
        'image': string, 'count': {'type': 'integer', 'format': 'int32', 'minimum': 0, 'description': text(seed + 5, 30)},
        'labels': {'type': 'object', 'additionalProperties': {'type': 'string'}, 'description': text(seed + 6, 30)},
        'policy': {'type': 'string', 'enum': ['Always', 'Never', 'IfNotPresent'], 'default': 'Always', 'description': text(seed + 7, 24)},
        'from': names, 'limits': {'type': 'object', 'additionalProperties': quantity, 'description': text(seed + 8, 20)},
        'ports': {'type': 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port'], 'description': text(seed + 9, 20),
                  'items': {'type': 'object', 'required': ['port'], 'properties': {
                      'port': {'type': 'integer', 'format': 'int32', 'maximum': 65535}, 'name': string}}},
        'arguments': {'type': 'array', 'items': {'type': 'string'}, 'description': text(seed + 10, 25)}}}


@functools.lru_cache(maxsize=None)
def spec_of(number, size):
    spec = {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}
    if size:
        members, length = {}, 0
        while length < size:
            members['member%d' % len(members)] = container(number * 31 + len(members))
            length = len(json.dumps(members))
        spec = {'type': 'object', 'description': text(number, 20), 'properties': members}
    return spec


def definition(number, size):
    schema = {'type': 'object', 'properties': {'spec': spec_of(number % SCHEMAS, size)}}
    version = {'name': 'v1', 'served': True, 'storage': True, 'schema': {'openAPIV3Schema': schema}}
    if size:
        schema['properties']['status'] = {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}
        version['subresources'] = {'status': {}}
    group = 'g%d.types.example.com' % (number % GROUPS)
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'things%d.%s' % (number, group)},
            'spec': {'group': group, 'scope': 'Namespaced', 'versions': [version], 'names': {
                'plural': 'things%d' % number, 'singular': 'thing%d' % number, 'kind': 'Thing%d' % number}}}


def path_of(crd):
    return '/apis/%s/v1/%s' % (crd['spec']['group'], crd['spec']['names']['plural'])


def rss(server):
    """KB."""
    for line in pathlib.Path('/proc/%d/status' % server.process.pid).read_text(encoding='ascii').splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1])
    raise OSError('no VmRSS')


def cpu(server):
    fields = pathlib.Path('/proc/%d/stat' % server.process.pid).read_text(encoding='ascii').rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def wait_for_idle(server):
    """Waits until the server is idle and freed memory has been released."""
    before = -1.0
    while cpu(server) - before > 0.03:
        before = cpu(server)
        time.sleep(3)
    time.sleep(12)


def bodies_of(numbers, size):
    """(path, JSON) of each definition."""
    for number in numbers:
        crd = definition(number, size)
        yield path_of(crd), json.dumps(crd).encode()


def create(server, bodies):
    """Creates the definitions; returns their paths."""
    bodies, paths, lock = iter(bodies), [], threading.Lock()

    def work():
        connection = server.connect(timeout=120)
        while True:
            with lock:
                path, body = next(bodies, (None, None))
            if body is None:
                return
            connection.request('POST', CRDS, body=body, headers={'Content-Type': 'application/json'})
            answer = connection.getresponse()
            said = answer.read()
            assert answer.status == 201, said
            with lock:
                paths.append(path)
    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return paths


def wait_served(server, paths, connection):
    for path in paths:
        while server.request('GET', path + '?limit=1', connection=connection)[0] != 200:
            time.sleep(0.002)


def cost(server_of, options):
    server = server_of()
    wait_for_idle(server)
    base = rss(server)
    paths = create(server, bodies_of(range(options.count), options.bytes))
    wait_served(server, paths[-CLIENTS:], server.connect())
    wait_for_idle(server)
    print('%d types: %.1f KB each' % (options.count, (rss(server) - base) / options.count))
    wait_served(server, paths, server.connect())
    wait_for_idle(server)
    print('when each has been asked for its objects: %.1f KB each' % ((rss(server) - base) / options.count))
    server.terminate()
    again = server_of(server.dir)
    wait_served(again, paths[:1], again.connect())
    wait_for_idle(again)
    print('after a restart: %.1f KB each' % ((rss(again) - base) / options.count))
    again.stop()
    server.stop()


def times_to_served(server, first):
    connection, answered, sent = server.connect(), [], []
    for number in range(first, first + 50):
        crd = definition(number, 4000)
        start = time.monotonic()
        answer = server.request('POST', CRDS, crd, connection=connection)
        assert answer[0] == 201, answer
        made = time.monotonic()
        wait_served(server, [path_of(crd)], connection)
        end = time.monotonic()
        sent.append((end - start) * 1e3)
        answered.append((end - made) * 1e3)
        time.sleep(0.05)
    return 'from the request %.1f ms (most %.1f), from its answer %.1f ms' % (statistics.median(sent), max(sent), statistics.median(answered))


def served(server_of, options):
    server = server_of()
    print('alone: ' + times_to_served(server, 1000000))
    wait_served(server, create(server, bodies_of(range(options.count), 4000)), server.connect())
    wait_for_idle(server)
    print('beside %d: %s' % (options.count, times_to_served(server, 2000000)))
    server.stop()


def shown(server, connection):
    """The number of types in discovery, and the time of the request."""
    start = time.monotonic()
    groups = server.request('GET', '/apis', headers=AGGREGATED, connection=connection)[2]['items']
    took = time.monotonic() - start
    return sum(len(version['resources']) for group in groups for version in group['versions']
               if group['metadata']['name'].endswith('types.example.com')), took


def read_documents(server, count):
    """Seconds until discovery shows all of them, those of its last answer, and those of OpenAPI."""
    connection = server.connect(timeout=120)
    start = time.monotonic()
    found, discovery = 0, 0
    while found < count:
        found, discovery = shown(server, connection)
    middle = time.monotonic()
    for path, place in server.request('GET', '/openapi/v3', connection=connection)[2]['paths'].items():
        if 'types.example.com/' in path:
            connection.request('GET', place['serverRelativeURL'])
            answer = connection.getresponse()
            assert answer.status == 200 and answer.read(), path
    return middle - start, discovery, time.monotonic() - middle


def many(server_of, options):
    server = server_of()
    # Generated before the measurement, which is about the server only.
    bodies = list(bodies_of(range(options.count), options.bytes))
    start, used = time.monotonic(), cpu(server)
    paths = create(server, bodies)
    created = time.monotonic()
    # All of them are counted in discovery.
    wait_served(server, paths[::50] + paths[-CLIENTS:], server.connect())
    ready, spent = time.monotonic(), cpu(server) - used
    after, discovery, openapi = read_documents(server, options.count)
    print('%d of %d KB: created in %.1f s, served after %.1f s (%.1f s of CPU), in discovery %.1f s later, which takes %.2f s, OpenAPI v3 of their groups %.1f s (%.1f s)' % (
        options.count, options.bytes // 1000, created - start, ready - start, spent, after, discovery, openapi, cpu(server) - used - spent))
    wait_for_idle(server)
    print('%.0f MB' % (rss(server) / 1024))
    server.terminate()
    start = time.monotonic()
    again = server_of(server.dir)
    print('start: ready after %.2f s, %.2f s of CPU' % (time.monotonic() - start, cpu(again)))
    wait_served(again, paths[-1:], again.connect())
    print('served after %.2f s' % (time.monotonic() - start))
    _, discovery, openapi = read_documents(again, options.count)
    print('discovery %.2f s, OpenAPI v3 of their groups %.1f s' % (discovery, openapi))
    wait_for_idle(again)
    print('%.0f MB' % (rss(again) / 1024))
    again.stop()
    server.stop()


def create_objects(server, count):
    """One object of each type."""
    connection = server.connect(timeout=120)
    for number in range(count):
        crd = definition(number, 0)
        path = '/apis/%s/v1/namespaces/default/%s' % (crd['spec']['group'], crd['spec']['names']['plural'])
        thing = {'apiVersion': crd['spec']['group'] + '/v1', 'kind': crd['spec']['names']['kind'], 'metadata': {'name': 'one'}, 'spec': {}}
        answer = server.request('POST', path, thing, connection=connection)
        assert answer[0] == 201, answer


def scrapes(server, headers, between=lambda _: None, number=200):
    """(bytes, [least, median, mean] of the server's CPU in ms, median of the time in ms) of one scrape."""
    connection, size, wall, used = server.connect(timeout=120), 0, [], []
    for i in range(number + 5):
        between(i)
        spent, start = cpu_time(server), time.monotonic()
        connection.request('GET', '/metrics', headers=headers)
        answer = connection.getresponse()
        size = len(answer.read())
        assert answer.status == 200
        wall.append((time.monotonic() - start) * 1e3)
        used.append((cpu_time(server) - spent) * 1e3)
    wall, used = wall[5:], used[5:]  # the first ones fill caches
    return size, [min(used), statistics.median(used), statistics.mean(used)], statistics.median(wall)


def cpu_time(server):
    """Seconds of CPU of all threads, with a resolution finer than that of stat."""
    total = 0
    for task in pathlib.Path('/proc/%d/task' % server.process.pid).iterdir():
        total += int((task / 'schedstat').read_text(encoding='ascii').split()[0])
    return total / 1e9


def metrics(server_of, options):
    server = server_of()
    paths = create(server, bodies_of(range(options.count), 0))
    wait_served(server, paths, server.connect())
    create_objects(server, options.count)
    wait_for_idle(server)
    connection = server.connect()
    path = '/apis/%s/v1/namespaces/default/%s/one' % (definition(0, 0)['spec']['group'], definition(0, 0)['spec']['names']['plural'])

    def one_get(_):
        assert server.request('GET', path, connection=connection)[0] == 200

    def gets(_):
        for other in paths:
            server.request('GET', other + '?limit=1', connection=connection)
    for name, headers, between, number in (
            ('text, nothing between', {}, lambda _: None, 200), ('text, one get between', {}, one_get, 200),
            ('text, a list of each type between', {}, gets, 10), ('gzip, nothing between', {'Accept-Encoding': 'gzip'}, lambda _: None, 200),
            ('gzip, one get between', {'Accept-Encoding': 'gzip'}, one_get, 200),
            ('gzip, a list of each type between', {'Accept-Encoding': 'gzip'}, gets, 10)):
        size, used, wall = scrapes(server, headers, between, number)
        print('%d types, %s: %.2f MB, server CPU %.2f ms (least %.2f, mean %.2f), %.2f ms until read' % (
            options.count, name, size / 1e6, used[1], used[0], used[2], wall), flush=True)
    print('%.0f MB' % (rss(server) / 1024))
    server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default=str(ROOT / 'build'))
    kinds = parser.add_subparsers(dest='what', required=True)
    for name, count, size in (('cost', 2000, 0), ('served', 3000, None), ('many', 5000, 40000), ('metrics', 500, None)):
        kind = kinds.add_parser(name)
        kind.add_argument('--count', type=int, default=count)
        if size is not None:
            kind.add_argument('--bytes', type=int, default=size)
    options = parser.parse_args()
    os.environ.setdefault('BACKPLANE', os.path.join(options.build, 'bin/backplane'))
    os.environ.setdefault('BACKPLANE_PLUGINS', os.path.join(options.build, 'lib/backplane/plugins'))
    import harness

    def server_of(folder=None):
        return harness.Server(data_dir=folder)
    {'cost': cost, 'served': served, 'many': many, 'metrics': metrics}[options.what](server_of, options)


if __name__ == '__main__':
    main()

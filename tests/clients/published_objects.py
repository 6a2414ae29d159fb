"""The objects that every release of the Go module k8s.io/api publishes of its kinds, in JSON and protobuf (its folder testdata), as a store
would hold them."""
import json
import os
import subprocess

import clients

# Each has the objects of its own release (HEAD) and of those just before it: together 1.18 to 1.36.
MODULES = {'v0.20.15': ('v1.18.0', 'v1.19.0', 'HEAD'), 'v0.21.14': ('HEAD',), 'v0.24.17': ('v1.22.0', 'v1.23.0', 'HEAD'),
           'v0.27.16': ('v1.25.0', 'v1.26.0', 'HEAD'), 'v0.30.14': ('v1.28.0', 'v1.29.0', 'HEAD'), 'v0.33.3': ('v1.31.0', 'v1.32.0', 'HEAD'),
           'v0.36.3': ('v1.34.0', 'v1.35.0', 'HEAD')}
FORMS = ('json', 'pb')


def folder(version):
    """testdata of the module. Raises clients.Missing."""
    env = clients.module()
    download = subprocess.run(['go', 'mod', 'download', '-json', 'k8s.io/api@' + version], cwd=clients.BUILD_DIR, env=env, capture_output=True, text=True)
    path = os.path.join(json.loads(download.stdout).get('Dir', '') if download.stdout else '', 'testdata')
    if download.returncode != 0 or not os.path.isdir(path):
        raise clients.Missing('the module k8s.io/api %s cannot be had: %s' % (version, (download.stderr or download.stdout).strip()[-300:]))
    return path


class Published:
    """One object in one encoding."""

    def __init__(self, release, group, version, kind, form, data):
        self.release, self.group, self.version, self.kind, self.form, self.data = release, '' if group == 'core' else group, version, kind, form, data

    @property
    def gvk(self):
        return self.group, self.version, self.kind

    def named(self, name, namespace):
        """Its bytes with another name; `namespace` empty: it has none."""
        return (in_json if self.form == 'json' else in_protobuf)(self.data, name, namespace)


def in_json(data, name, namespace):
    tree = json.loads(data)
    tree['metadata']['name'] = name
    tree['metadata'].pop('namespace', None)
    if namespace:
        tree['metadata']['namespace'] = namespace
    return (json.dumps(tree, indent=2) + '\n').encode()


def varint(number):
    out = b''
    while number >= 0x80:
        out, number = out + bytes([number & 0x7f | 0x80]), number >> 7
    return out + bytes([number])


def read_varint(data, at):
    number, shift = 0, 0
    while True:
        number, shift, at = number | (data[at] & 0x7f) << shift, shift + 7, at + 1
        if data[at - 1] < 0x80:
            return number, at


def fields(data):
    """[(number, all its bytes, its value if it is length-delimited)]"""
    out, at = [], 0
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        value = None
        if tag & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        elif tag & 7 == 0:
            _, at = read_varint(data, at)
        else:
            at += {1: 8, 5: 4}[tag & 7]
        out.append((tag >> 3, data[begin:at], value))
    return out


def field(number, value):
    return varint(number << 3 | 2) + varint(len(value)) + value


def replaced(data, changes):
    """The message with other values of some fields, each a function of the value."""
    return b''.join(field(number, changes[number](value)) if number in changes else whole for number, whole, value in fields(data))


def in_protobuf(data, name, namespace):
    def meta(message):
        return replaced(message, {1: lambda _: name.encode(), 3: lambda _: namespace.encode()})
    return b'k8s\0' + replaced(data[4:], {2: lambda raw: replaced(raw, {1: meta})})


def stored_version(value):
    """The apiVersion of a stored value."""
    if value.startswith(b'k8s\0'):
        return dict((number, value) for number, _, value in fields(dict((n, v) for n, _, v in fields(value[4:]))[1]))[1].decode()
    return json.loads(value)['apiVersion']


def today():
    """{(group, version, kind)} that the newest release has."""
    names = (name.split('.') for name in os.listdir(os.path.join(folder(list(MODULES)[-1]), 'HEAD')))
    return {(group if group != 'core' else '', *parts[-3:-1]) for parts in names for group in ['.'.join(parts[:-3])]}


def published():
    """Every object once: an object that several releases have is of the first one. Raises clients.Missing."""
    seen = set()
    for module, releases in MODULES.items():
        where = folder(module)
        for release in releases:
            for name in sorted(os.listdir(os.path.join(where, release))):
                parts = name.split('.')
                number = int(module.split('.')[1]) if release == 'HEAD' else int(release.split('.')[1])
                if parts[-1] not in FORMS or parts[-2] == 'after_roundtrip':
                    continue
                with open(os.path.join(where, release, name), 'rb') as f:
                    data = f.read()
                group, version, kind = '.'.join(parts[:-3]), *parts[-3:-1]
                if (name, data) not in seen:
                    seen.add((name, data))
                    yield Published('1.%d' % number, group, version, kind, parts[-1], data)

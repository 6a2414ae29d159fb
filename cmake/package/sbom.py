"""An SPDX 2.3 document of a package's files and of the Debian packages whose libraries its binaries load: sbom.py VERSION DIRECTORY."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys


def is_elf(path):
    with open(path, 'rb') as f:
        return f.read(4) == b'\x7fELF'


def loaded_libraries(paths):
    found = set()
    for path in paths:
        listed = subprocess.run(['ldd', path], capture_output=True, text=True, check=False).stdout
        found.update(os.path.realpath(each) for each in re.findall(r'=> (/\S+)', listed))
    return found


def debian_packages(libraries):
    """{name: version} of the packages that the libraries come from; libraries of no package are left out."""
    packages = {}
    for library in sorted(libraries):
        for path in (library, library.replace('/usr/lib/', '/lib/', 1)):
            owner = subprocess.run(['dpkg-query', '-S', path], capture_output=True, text=True, check=False).stdout.partition(': ')[0]
            if owner:
                shown = subprocess.run(['dpkg-query', '-W', '-f', '${Package} ${Version}', owner], capture_output=True, text=True, check=False).stdout
                name, _, version = shown.partition(' ')
                packages[name] = version
                break
    return packages


def sha256(path):
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()


def package(name, version, supplier):
    return {'SPDXID': 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.-]', '-', name), 'name': name, 'versionInfo': version, 'supplier': supplier,
            'downloadLocation': 'NOASSERTION', 'filesAnalyzed': False}


def main(version, directory):
    paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names
                   if 'DEBIAN' not in folder and not os.path.islink(os.path.join(folder, name)))
    libraries = debian_packages(loaded_libraries(path for path in paths if is_elf(path)))
    # SOURCE_DATE_EPOCH makes two runs over one build equal.
    created = datetime.datetime.fromtimestamp(int(os.environ.get('SOURCE_DATE_EPOCH', '0')) or datetime.datetime.now().timestamp(), datetime.timezone.utc)
    document = {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': 'backplane-' + version,
        'documentNamespace': 'https://backplane.dev/spdx/backplane-%s-%s' % (version, hashlib.sha256(''.join(map(sha256, paths)).encode()).hexdigest()[:16]),
        'creationInfo': {'created': created.strftime('%Y-%m-%dT%H:%M:%SZ'), 'creators': ['Tool: scripts/package']},
        'packages': [package('backplane', version, 'NOASSERTION')] + [package(name, each, 'Organization: Debian') for name, each in sorted(libraries.items())],
        'files': [{'SPDXID': 'SPDXRef-File-%d' % i, 'fileName': './' + os.path.relpath(path, directory),
                   'checksums': [{'algorithm': 'SHA256', 'checksumValue': sha256(path)}]} for i, path in enumerate(paths)],
        'relationships': [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES', 'relatedSpdxElement': 'SPDXRef-backplane'}] +
                         [{'spdxElementId': 'SPDXRef-backplane', 'relationshipType': 'DYNAMIC_LINK',
                           'relatedSpdxElement': package(name, each, '')['SPDXID']} for name, each in sorted(libraries.items())]}
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == '__main__':
    main(*sys.argv[1:])

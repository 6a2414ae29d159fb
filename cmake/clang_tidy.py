"""Runs clang-tidy-14 on the sources among the given files, and on the sources of the same name as given headers, in parallel.

The compile commands are those of the build, for Clang: without g++'s options and without its precompiled headers, whose text is included; a
group of sources that the build compiles together is checked source by source."""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

GCC_ONLY = ('-fno-gnu-unique', '-fpch-preprocess', '-Winvalid-pch', '-Wno-stringop-overflow', '-Wno-restrict', '-Wno-array-bounds')


def arguments_for_clang(entry, headers):
    """The command of one entry; a precompiled header is included as text, from a copy in a directory without the .gch."""
    out = []
    words = entry.get('arguments') or shlex.split(entry['command'])
    for word in words:
        if word in GCC_ONLY:
            continue
        if word.endswith('cmake_pch.hxx') and os.path.exists(word):
            copy = os.path.join(headers, re.sub(r'\W', '_', word) + '.hxx')
            if not os.path.exists(copy):
                shutil.copy(word, copy)
            word = copy
        out.append(word)
    return out


def files_of(file):
    """The sources that a group of the build includes (BackplaneUnity.cmake); for any other source, itself."""
    if '/groups/' not in file or not os.path.exists(file):
        return [file]
    with open(file, encoding='utf-8') as f:
        return [os.path.normpath(os.path.join(os.path.dirname(file), name)) for name in re.findall(r'^#include "(.*\.cpp)"', f.read(), re.M)]


def database(build):
    """Writes the compile commands for Clang; returns their folder and {file: True}."""
    # Commands run in the directory of their entry, so the paths in them are absolute.
    folder = os.path.abspath(os.path.join(build, 'clang-tidy'))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as f:
        entries = json.load(f)
    entries = [{'directory': entry['directory'], 'file': file, 'arguments': [file if word == entry['file'] else word for word in arguments]}
               for entry in entries for arguments in [arguments_for_clang(entry, folder)] for file in files_of(entry['file'])]
    with open(os.path.join(folder, 'compile_commands.json'), 'w', encoding='utf-8') as f:
        json.dump(entries, f)
    return folder, {entry['file'] for entry in entries}


def sources_of(files, known):
    """The compiled files: each given source, and for each given header the source of the same name in its directory."""
    out = []
    for file in files:
        path = os.path.abspath(file)
        source = os.path.splitext(path)[0] + '.cpp' if path.endswith('.hpp') else path
        if source in known and source not in out:
            out.append(source)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', required=True)
    parser.add_argument('--budget', type=float, default=0)
    parser.add_argument('files', nargs='*')
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.build, 'compile_commands.json')):
        sys.exit('%s/compile_commands.json: missing; run scripts/build first' % options.build)
    folder, known = database(options.build)
    sources = sources_of(options.files, known)
    end = time.monotonic() + options.budget if options.budget else float('inf')

    def check(source):
        if time.monotonic() > end:
            return source, None
        done = subprocess.run(['clang-tidy-14', '--quiet', '-p', folder, source], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, check=False)
        return source, done

    failed, left = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, done in pool.map(check, sources):
            if done is None:
                left.append(os.path.relpath(source))
            elif done.returncode != 0:
                failed += 1
                print(done.stdout, flush=True)
    print('clang-tidy: %d files, %d with findings, %d not checked%s' % (
        len(sources), failed, len(left), ': ' + ' '.join(left) if left else ''))
    sys.exit(failed != 0)


if __name__ == '__main__':
    main()

"""Makes the man pages and the completions of bash, zsh and fish out of `backplane --help` and `backplane-runner --help`:
command_docs.py BINARY DIRECTORY. backplane-runner is in the directory of BINARY."""
import os
import re
import subprocess
import sys

FLAG = re.compile(r'^ {2,}(?:-(?P<short>\w), )?--(?P<name>[\w-]+)(?: (?P<type>\S+))?(?:\s{2,}(?P<text>.*))?$')
COMMAND = re.compile(r'^  backplane ([a-z]+)(?: ([a-z|]+))?(?: |$)')


def parse(text):
    """([about lines], [usage lines], [(section, [(name, short, type, text)])]) of the help text."""
    about, usage, sections, at = [], [], [], 'about'
    for line in text.splitlines():
        found = FLAG.match(line)
        if found and sections:
            sections[-1][1].append((found['name'], found['short'], found['type'] or '', (found['text'] or '').strip()))
        elif line.endswith(' flags:') and not line.startswith(' '):
            sections.append((line[:-7], []))
            at = 'flags'
        elif line == 'Usage:':
            at = 'usage'
        elif at == 'usage' and line.startswith('  '):
            usage.append(line.strip())
        elif at == 'about' and line:
            about.append(line)
    return about, usage, sections


def commands(usage):
    """{'plugin': ['list', …], 'doctor': [], …}; a command may have several lines."""
    known = {}
    for found in filter(None, (COMMAND.match('  ' + line) for line in usage)):
        words = known.setdefault(found[1], [])
        words += [word for word in (found[2] or '').split('|') if word and word not in words]
    return known


def roff(text):
    return text.replace('\\', '\\e').replace('-', '\\-').replace("'", '\\(aq')


PURPOSE = {'backplane': 'a Kubernetes API server built as a plugin host', 'backplane-runner': 'serves plugins as an extension of an API server'}


def man_page(program, about, usage, sections, version):
    lines = ['.TH %s 8 "" "Backplane %s"' % (program.upper(), version), '.SH NAME', '%s \\- %s' % (roff(program), PURPOSE[program]), '.SH SYNOPSIS']
    for each in usage:
        lines += ['.B ' + roff(each), '.br']
    lines += ['.SH DESCRIPTION', roff(' '.join(about))]
    for name, flags in sections:
        lines.append('.SH "%s FLAGS"' % name.upper())
        for flag, short, kind, text in flags:
            lines += ['.TP', '.BR %s\\-\\-%s%s' % ('\\-%s ", " ' % short if short else '', roff(flag), ' " \\fI%s\\fR"' % kind if kind else ''), roff(text) or '.']
    lines += ['.SH FILES', '.TP', '.I admin.kubeconfig', 'in \\-\\-data\\-dir: the kubeconfig of the administrator, written at startup.',
              '.SH "EXIT STATUS"', '0 after an orderly stop, 1 if startup fails; the error names the flag or the file.', '.SH "SEE ALSO"', '.BR kubectl (1)' if program == 'backplane' else '.BR backplane (8)']
    return '\n'.join(lines) + '\n'


def bash(flags, known):
    cases = ''.join('    %s) words="%s" ;;\n' % (name, ' '.join(words)) for name, words in known.items() if words)
    return '''_backplane() {
  local current=${COMP_WORDS[COMP_CWORD]} words="%s %s"
  if [ "$COMP_CWORD" -eq 2 ]; then
    case ${COMP_WORDS[1]} in
%s    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _backplane backplane
''' % (' '.join(known), ' '.join('--' + flag[0] for flag in flags), cases)


def quoted(text):
    return text.replace("'", "'\\''")


def zsh(flags, known):
    def first(text):
        return re.split(r'\. ', text)[0].replace('[', '(').replace(']', ')').replace(':', ' ')
    specs = ' \\\n'.join("  '--%s=[%s]:%s:_files'" % (name, quoted(first(text)), kind or ' ') for name, _, kind, text in flags)
    subs = '\n'.join("    %s) _values command %s ;;" % (name, ' '.join(words)) for name, words in known.items() if words)
    return '#compdef backplane\nif (( CURRENT == 3 )); then\n  case $words[2] in\n%s\n  esac\nfi\n_arguments \\\n  "1:command:(%s)" \\\n%s\n' % (
        subs, ' '.join(known), specs)


def fish(flags, known):
    out = ["complete -c backplane -n __fish_use_subcommand -a '%s'" % ' '.join(known)]
    out += ["complete -c backplane -n '__fish_seen_subcommand_from %s' -a '%s'" % (name, ' '.join(words)) for name, words in known.items() if words]
    out += ["complete -c backplane -l %s -d '%s'" % (name, re.split(r'\. ', text)[0].replace("'", "\\'")) for name, _, _, text in flags]
    return '\n'.join(out) + '\n'


def main(binary, directory):
    text = subprocess.run([binary, '--help'], capture_output=True, text=True, check=True).stdout
    version = re.search(r'Backplane v(\S+)', subprocess.run([binary, '--version'], capture_output=True, text=True, check=True).stdout)[1]
    about, usage, sections = parse(text)
    flags, known = [flag for _, each in sections for flag in each], commands(usage)
    if len(flags) < 100 or 'restore' not in known.get('store', []) or 'doctor' not in known:
        raise SystemExit('command_docs.py: the help text has another form: %d flags, commands %s' % (len(flags), sorted(known)))
    runner = os.path.join(os.path.dirname(binary), 'backplane-runner')
    of_runner = parse(subprocess.run([runner, '--help'], capture_output=True, text=True, check=True).stdout)
    for path, content in (('backplane.8', man_page('backplane', about, usage, sections, version)),
                          ('backplane-runner.8', man_page('backplane-runner', *of_runner, version)), ('backplane.bash', bash(flags, known)),
                          ('_backplane', zsh(flags, known)), ('backplane.fish', fish(flags, known))):
        with open(os.path.join(directory, path), 'w', encoding='utf-8') as f:
            f.write(content)


if __name__ == '__main__':
    main(*sys.argv[1:])

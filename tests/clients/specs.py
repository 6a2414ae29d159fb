"""Upstream's end-to-end specs, as their Go package has them, run against the built server with kube-scheduler, kube-controller-manager and a
kubelet that runs no containers (controllers_test.Kubelet).

Ginkgo runs several specs at a time; the ones marked [Serial] run one after the other, next to the rest. SPECS=all also runs those that take
minutes, SPECS_FOCUS selects by a regular expression."""
import base64
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '../e2e')]
import clients  # noqa: E402
import harness  # noqa: E402
from controllers_test import NODE, Kubelet, node  # noqa: E402

FOCUS = os.environ.get('SPECS_FOCUS', '')
ALL = os.environ.get('SPECS') == 'all' or FOCUS != ''
# Their claims must be bound and their pods use volumes, which this test environment does not provide.
VOLUMES = ('against a pvc with different volume attributes class',)
# Features and gates that are on by default; specs of others do not run.
LABELS = 'Feature: isSubsetOf {PodPriority} && FeatureGate: isSubsetOf {DynamicResourceAllocation, VolumeAttributesClass}'
PROCESSES = 6  # the specs mostly wait
SECONDS = 1800


class Specs(unittest.TestCase):
    """The specs of `groups` run once; `check` reports the failures of one group.

    groups:      name of a test → the text with which the names of its specs begin.
    excluded:    texts of specs that cannot run here.
    slow:        texts of specs that run only if SPECS is `all`.
    controllers: whether the controllers of the server run.
    manager:     flags of kube-controller-manager."""
    groups = {}
    excluded, slow = VOLUMES, ()
    server_flags = ()
    controllers = False
    manager = ()

    @classmethod
    def setUpClass(cls):
        try:
            paths = clients.build(('kube-controller-manager', 'kube-scheduler'))
            cls.program, cls.ginkgo = clients.build_specs()
        except clients.Missing as why:
            raise unittest.SkipTest("upstream's end-to-end specs cannot be built: %s" % why)
        cls.server = harness.Server(*cls.server_flags, service_accounts=True, controllers=cls.controllers)
        cls.addClassCleanup(cls.server.stop)
        cls.add_node()
        cls.kubelet = cls.make_kubelet()
        cls.kubelet.start()
        cls.addClassCleanup(cls.kubelet.end)
        cls.programs = [clients.Program(paths['kube-controller-manager'], cls.server, '--root-ca-file=' + cls.authority(), *cls.manager),
                        clients.Program(paths['kube-scheduler'], cls.server)]
        for program in cls.programs:
            cls.addClassCleanup(program.stop)
        cls.outcomes = cls.run_specs()

    @classmethod
    def make_kubelet(cls):
        return Kubelet(cls.server)

    @classmethod
    def add_node(cls):
        """The node, without the taint that the controller of nodes, which may not run, would remove."""
        code, _, answer = cls.server.request('POST', '/api/v1/nodes', node())
        assert code == 201, answer
        code, _, answer = cls.server.request('PATCH', '/api/v1/nodes/' + NODE, {'spec': {'taints': None}},
                                             {'Content-Type': 'application/merge-patch+json'})
        assert code == 200, answer

    @classmethod
    def authority(cls):
        path = os.path.join(cls.server.dir, 'authority.crt')
        with open(cls.server.kubeconfig, encoding='utf-8') as config, open(path, 'wb') as out:
            out.write(base64.b64decode(re.search(r'certificate-authority-data: (\S+)', config.read())[1]))
        return path

    @classmethod
    def run_specs(cls):
        """The reports of the specs that have run."""
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [pool.submit(cls.run_ginkgo, *each) for each in (('parallel', '!Serial', PROCESSES), ('serial', 'Serial', 1))]
            return [spec for run in runs for spec in run.result()]

    @classmethod
    def run_ginkgo(cls, name, label, processes):
        suite = os.path.join(cls.server.dir, name + '.test')  # ginkgo takes programs with this ending
        os.symlink(cls.program, suite)
        command = [cls.ginkgo, 'run', '--procs=%d' % processes, '--no-color', '--timeout=%ds' % SECONDS, '--label-filter=%s && %s' % (label, LABELS),
                   '--focus=' + (FOCUS or '|'.join(re.escape(each) + r'\b' for each in cls.groups.values())), '--output-dir=' + cls.server.dir,
                   '--json-report=%s.json' % name]
        command += ['--skip=' + '|'.join(map(re.escape, cls.excluded + (() if ALL else cls.slow)))]
        command += [suite, '--', '--kubeconfig=' + cls.server.kubeconfig, '--provider=skeleton', '--minStartupPods=0', '--num-nodes=1',
                    '--dump-logs-on-failure=false']
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=SECONDS + 60,
                              check=False)
        report = os.path.join(cls.server.dir, name + '.json')
        if not os.path.exists(report):
            raise AssertionError('ginkgo wrote no report:\n' + done.stdout[-5000:])
        with open(report, encoding='utf-8') as text:
            suites = json.load(text)
        # A spec that the filters exclude has no message, one that skips itself has its reason.
        specs = [spec for each in suites for spec in each['SpecReports'] or []
                 if spec['State'] != 'skipped' or spec.get('Failure', {}).get('Message')]
        failed = [spec for spec in specs if spec['State'] != 'passed']
        if done.returncode != 0 and not failed:
            raise AssertionError('ginkgo failed:\n' + done.stdout[-5000:])
        return specs

    def check(self, group):
        began = '' if FOCUS else self.groups[group]
        specs = [(' '.join([*(spec['ContainerHierarchyTexts'] or []), spec['LeafNodeText']]), spec) for spec in self.outcomes]
        specs = [(name, spec) for name, spec in specs if not spec['LeafNodeText'] or re.match(re.escape(began) + r'(?!\w)', name) or not began]
        failed = ['%s\n  %s: %.1500s' % (name, spec['State'], spec.get('Failure', {}).get('Message', '')) for name, spec in specs
                  if spec['State'] != 'passed']
        took = sorted(((spec['RunTime'] / 1e9, spec['LeafNodeText']) for _, spec in specs), reverse=True)
        print('%s: %d specs, %d failed; the longest: %s' % (group, len(specs), len(failed), '; '.join('%d s %s' % each for each in took[:3])),
              file=sys.stderr)
        self.assertIsNone(self.kubelet.error)
        self.assertEqual(failed, [], '\n'.join(failed))
        self.assertGreater(len(specs), 0)


def with_tests(case):
    """Gives the class one test for each of its groups."""
    for each in case.groups:
        setattr(case, 'test_' + each, lambda self, group=each: self.check(group))
    return case

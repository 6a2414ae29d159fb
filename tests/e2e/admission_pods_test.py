"""Admission plugins of pods, jobs, events, namespaces and owners, each through the API: defaults, refusals and their messages."""
import json
import os
import shutil
import tempfile
import unittest

from harness import Server, main, namespace, wait_for
from openid_provider import TlsServer, reply

MERGE = {'Content-Type': 'application/merge-patch+json'}
NS = '/api/v1/namespaces/'
RESTRICTION = {'apiVersion': 'podtolerationrestriction.admission.k8s.io/v1alpha1', 'kind': 'Configuration',
               'whitelist': [{'key': key, 'operator': 'Exists'} for key in
                             ('node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable', 'example.com/gpu', 'ok',
                              'node.kubernetes.io/memory-pressure')]}


def pod(name='p', container=None, metadata=None, **spec):
    spec.setdefault('containers', [dict({'name': 'c', 'image': 'i'}, **(container or {}))])
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': dict({'name': name}, **(metadata or {})), 'spec': spec}


class ImageWebhook(TlsServer):
    """Allows all images except those named "bad"; `fails`: returns 500."""

    def __init__(self):
        self.calls, self.fails = [], False
        super().__init__(self.answer)

    def answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers['Content-Length'])))
        self.calls.append(body)
        if self.fails:
            return reply(handler, 500, b'broken')
        bad = [c['image'] for c in body['spec']['containers'] if c['image'].startswith('bad')]
        status = {'allowed': not bad, 'reason': 'not these' if bad else ''}
        return reply(handler, 200, {'apiVersion': body['apiVersion'], 'kind': 'ImageReview', 'status': status})

    def kubeconfig(self):
        path = os.path.join(self.folder, 'images.kubeconfig')
        config = {'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',
                  'clusters': [{'name': 'k', 'cluster': {'server': self.url + '/images', 'certificate-authority': self.folder + '/ca.crt'}}],
                  'users': [{'name': 'u', 'user': {}}], 'contexts': [{'name': 'c', 'context': {'cluster': 'k', 'user': 'u'}}]}
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(config, f)
        return path


class Admission:
    """Before TestCase among the bases: one server with FLAGS and the CONFIGURATIONS of plugins, and a namespace for each test."""
    FLAGS, CONFIGURATIONS = (), {}
    DISABLED = 'ServiceAccount'  # also for pods, but not tested here

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix='backplane-admission-')
        cls.server = Server('--disable-admission-plugins=' + cls.DISABLED, '--admission-control-config-file=' + cls.write_configuration(), *cls.FLAGS)

    @classmethod
    def write_configuration(cls):
        path = os.path.join(cls.folder, 'admission.json')
        rows = [{'name': name, 'configuration': value} for name, value in cls.CONFIGURATIONS.items()]
        with open(path, 'w', encoding='utf-8') as f:
            json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration', 'plugins': rows}, f)
        return path

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.ns = self.id().rsplit('.', 1)[1].replace('_', '-')[:50].rstrip('-')
        self.ask('POST', '/api/v1/namespaces', namespace(self.ns))

    def ask(self, method, path, body=None, code=None, headers=None):
        status, _, answer = self.server.request(method, path, body, headers=headers)
        self.assertEqual(status, code or (201 if method == 'POST' else 200), answer)
        return answer

    def make(self, resource, body, code=201, group='/api/v1', headers=None):
        return self.ask('POST', '%s/namespaces/%s/%s' % (group, self.ns, resource), body, code, headers)

    def refused(self, body, resource='pods', code=403, **more):
        return self.make(resource, body, code, **more)['message']


class Defaults(Admission, unittest.TestCase):
    """The plugins that run without a flag."""
    FLAGS = ('--default-not-ready-toleration-seconds=60', '--default-unreachable-toleration-seconds=90')

    def test_a_plain_pod_gets_priority_and_tolerations_in_upstreams_order(self):
        spec = self.make('pods', pod())['spec']
        self.assertEqual((spec['priority'], spec['preemptionPolicy']), (0, 'PreemptLowerPriority'))
        self.assertEqual(spec['tolerations'], [
            {'key': 'node.kubernetes.io/not-ready', 'operator': 'Exists', 'effect': 'NoExecute', 'tolerationSeconds': 60},
            {'key': 'node.kubernetes.io/unreachable', 'operator': 'Exists', 'effect': 'NoExecute', 'tolerationSeconds': 90}])
        self.assertEqual([key for key in spec if key in ('schedulerName', 'tolerations', 'priority', 'enableServiceLinks', 'preemptionPolicy')],
                         ['schedulerName', 'tolerations', 'priority', 'enableServiceLinks', 'preemptionPolicy'])

    def test_the_class_of_a_pod_decides_its_priority(self):
        classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
        made = {'apiVersion': 'scheduling.k8s.io/v1', 'kind': 'PriorityClass', 'metadata': {'name': 'never'}, 'value': 7,
                'preemptionPolicy': 'Never'}
        self.ask('POST', classes, made)
        spec = wait_for(lambda: self.server.request('POST', NS + self.ns + '/pods', pod('a', priorityClassName='never'))[2].get('spec'))
        self.assertEqual((spec['priorityClassName'], spec['priority'], spec['preemptionPolicy']), ('never', 7, 'Never'))
        self.assertEqual(self.refused(pod('b', priorityClassName='missing')), 'pods "b" is forbidden: no PriorityClass with name missing was found')
        self.assertEqual(self.refused(pod('b', priority=5)),
                         'pods "b" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission '
                         'controller computed 0 from the given PriorityClass name')
        self.assertEqual(self.make('pods', pod('c', priorityClassName='system-node-critical'))['spec']['priority'], 2000001000)
        # A full update without the members that were set.
        self.ask('PUT', NS + self.ns + '/pods/a', pod('a', priorityClassName='never', metadata={'labels': {'a': 'b'}}, nodeName=None,
                                                     tolerations=spec['tolerations']))

    def test_requests_of_a_pod_follow_those_that_a_limit_range_sets(self):
        self.make('limitranges', {'apiVersion': 'v1', 'kind': 'LimitRange', 'metadata': {'name': 'l'}, 'spec': {'limits': [
            {'type': 'Container', 'defaultRequest': {'cpu': '100m', 'memory': '64Mi'}}]}})

        def with_default():
            status, _, made = self.server.request('POST', NS + self.ns + '/pods?dryRun=All', pod('q'))
            return made if status == 201 and 'requests' in made['spec']['containers'][0].get('resources', {}) else None
        self.assertTrue(wait_for(with_default))
        made = self.make('pods', pod(resources={'limits': {'memory': '512Mi'}}))
        self.assertEqual(made['spec']['resources'], {'limits': {'memory': '512Mi'}, 'requests': {'cpu': '100m', 'memory': '512Mi'}})
        # An update sets the defaults again: they must be the same.
        self.ask('PATCH', NS + self.ns + '/pods/p', {'metadata': {'labels': {'a': 'b'}}}, headers=MERGE)

    def test_one_class_is_the_default(self):
        classes = '/apis/scheduling.k8s.io/v1/priorityclasses'

        def default(name):
            return {'apiVersion': 'scheduling.k8s.io/v1', 'kind': 'PriorityClass', 'metadata': {'name': name}, 'value': 3, 'globalDefault': True}
        self.ask('POST', classes, default('first'))
        self.addCleanup(self.server.request, 'DELETE', classes + '/first')
        answer = wait_for(lambda: (lambda status, _, body: body if status == 403 else None)(
            *self.server.request('POST', classes + '?dryRun=All', default('second'))))
        self.assertEqual(answer['message'], 'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass first is already marked as '
                                            'default. Only one default can exist')
        self.assertEqual(self.make('pods', pod())['spec']['priorityClassName'], 'first')

    def test_limits_of_a_namespace(self):
        limits = [{'type': 'Container', 'default': {'cpu': '200m'}, 'defaultRequest': {'cpu': '100m'}, 'max': {'cpu': '1'}},
                  {'type': 'PersistentVolumeClaim', 'min': {'storage': '1Gi'}}]
        self.make('limitranges', {'apiVersion': 'v1', 'kind': 'LimitRange', 'metadata': {'name': 'l'}, 'spec': {'limits': limits}})
        made = self.make('pods', pod())
        self.assertEqual(made['spec']['containers'][0]['resources'], {'limits': {'cpu': '200m'}, 'requests': {'cpu': '100m'}})
        self.assertEqual(made['metadata']['annotations'],
                         {'kubernetes.io/limit-ranger': 'LimitRanger plugin set: cpu request for container c; cpu limit for container c'})
        self.assertEqual(made['status']['qosClass'], 'Burstable')
        self.assertEqual(self.refused(pod('q', container={'resources': {'limits': {'cpu': '2'}}})),
                         'pods "q" is forbidden: maximum cpu usage per Container is 1, but limit is 2')
        claim = {'apiVersion': 'v1', 'kind': 'PersistentVolumeClaim', 'metadata': {'name': 'c'},
                 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': '1Mi'}}}}
        self.assertEqual(self.refused(claim, 'persistentvolumeclaims'), 'persistentvolumeclaims "c" is forbidden: minimum storage usage per '
                                                                        'PersistentVolumeClaim is 1Gi, but request is 1Mi')

    def test_a_runtime_class_sets_overhead_and_place(self):
        self.ask('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
            'apiVersion': 'node.k8s.io/v1', 'kind': 'RuntimeClass', 'metadata': {'name': 'kata'}, 'handler': 'kata',
            'overhead': {'podFixed': {'memory': '10Mi'}}, 'scheduling': {'nodeSelector': {'kata': 'yes'}}})
        spec = self.make('pods', pod(runtimeClassName='kata'))['spec']
        self.assertEqual((spec['overhead'], spec['nodeSelector']), ({'memory': '10Mi'}, {'kata': 'yes'}))
        self.assertEqual(self.refused(pod('q', runtimeClassName='missing')), 'pods "q" is forbidden: pod rejected: RuntimeClass "missing" not found')
        self.assertEqual(self.refused(pod('q', overhead={'cpu': '1'})),
                         'pods "q" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead')

    def make_node(self, labels=None, **status):
        self.ask('POST', '/api/v1/nodes', {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': self.ns, 'labels': labels or {}}})
        self.ask('PATCH', '/api/v1/nodes/%s/status' % self.ns, {'status': status}, headers=MERGE)

    def test_a_bound_pod_gets_the_labels_of_its_place(self):
        self.make_node({'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r', 'other': 'o'})

        def bound(name):
            self.make('pods', pod(name))
            self.make('pods/%s/binding' % name, {'apiVersion': 'v1', 'kind': 'Binding', 'metadata': {'name': name},
                                                'target': {'kind': 'Node', 'name': self.ns}})
            return self.ask('GET', NS + self.ns + '/pods/' + name)['metadata'].get('labels')
        names = iter('abcdefghijklmnopqrstuvwxyz')
        self.assertEqual(wait_for(lambda: bound(next(names))), {'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z'})

    def test_a_resize_must_fit_the_node_and_what_it_declares(self):
        self.make_node({'kubernetes.io/os': 'linux'}, allocatable={'cpu': '1', 'memory': '1Gi'})
        small = {'requests': {'cpu': '100m'}, 'limits': {'cpu': '100m'}}
        self.make('pods', pod(nodeName=self.ns, container={'resources': small},
                              initContainers=[{'name': 'i', 'image': 'i', 'resources': small}]))

        def resize(list_name, name, cpu):
            sizes = {'requests': {'cpu': cpu}, 'limits': {'cpu': cpu}}
            return self.server.request('PATCH', NS + self.ns + '/pods/p/resize', {'spec': {list_name: [{'name': name, 'resources': sizes}]}},
                                       headers={'Content-Type': 'application/strategic-merge-patch+json'})
        status, _, answer = wait_for(lambda: (lambda got: got if 'not found' not in got[2].get('message', '') else None)(
            resize('containers', 'c', '2')))
        self.assertEqual(status, 403, answer)
        self.assertEqual(answer['message'], 'pods "p" is forbidden: node didn\'t have enough allocatable resources: cpu, requested: 2000, '
                                            'allocatable: 1000')
        self.assertEqual(answer['details'], {'name': 'p', 'kind': 'pods', 'causes': [{'reason': 'NodeCapacity'}]})
        self.assertEqual(resize('containers', 'c', '200m')[0], 200)
        self.assertEqual(resize('initContainers', 'i', '150m')[2]['message'],
                         'pods "p" is forbidden: pod update requires features InPlacePodVerticalScalingInitContainers which are not available '
                         'on node "%s"' % self.ns)


class Gates(Admission, unittest.TestCase):
    """The plugins of pod groups and their jobs."""
    FLAGS = ('--feature-gates=GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true,WorkloadAwarePreemption=true',
             '--runtime-config=scheduling.k8s.io/v1alpha2=true')
    GROUP = '/apis/scheduling.k8s.io/v1alpha2'

    def group(self, name='g', **spec):
        spec.setdefault('schedulingPolicy', {'gang': {'minCount': 2}})
        return {'apiVersion': 'scheduling.k8s.io/v1alpha2', 'kind': 'PodGroup', 'metadata': {'name': name}, 'spec': spec}

    def test_a_group_is_protected_and_has_a_priority(self):
        self.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
            'apiVersion': 'scheduling.k8s.io/v1', 'kind': 'PriorityClass', 'metadata': {'name': 'of-groups'}, 'value': 7})
        path = '%s/namespaces/%s/podgroups' % (self.GROUP, self.ns)
        body = self.group(priorityClassName='of-groups')
        made = wait_for(lambda: (lambda got: got[2] if got[0] == 201 else None)(self.server.request('POST', path, body)))
        self.assertEqual(made['metadata']['finalizers'], ['scheduling.k8s.io/podgroup-protection'])
        self.assertEqual(made['spec']['priority'], 7)

    def test_a_group_names_a_workload_that_exists(self):
        of = {'workload': {'workloadName': 'w', 'podGroupTemplateName': 't'}}
        self.assertEqual(self.refused(self.group(podGroupTemplateRef=of), 'podgroups', group=self.GROUP),
                         'podgroups.scheduling.k8s.io "g" is forbidden: PodGroup rejected: Workload "w" not found')
        workload = {'apiVersion': 'scheduling.k8s.io/v1alpha2', 'kind': 'Workload', 'metadata': {'name': 'w'},
                    'spec': {'podGroupTemplates': [{'name': 't', 'schedulingPolicy': {'gang': {'minCount': 2}}}]}}
        self.make('workloads', workload, group=self.GROUP)
        self.make('podgroups', self.group(podGroupTemplateRef=of), group=self.GROUP)
        of['workload']['podGroupTemplateName'] = 'x'
        self.assertEqual(self.refused(self.group('h', podGroupTemplateRef=of), 'podgroups', group=self.GROUP),
                         'podgroups.scheduling.k8s.io "h" is forbidden: PodGroup rejected: PodGroupTemplate "x" not found in Workload "w"')

    def test_the_job_of_a_gang_keeps_its_parallelism(self):
        self.make('podgroups', self.group('gang'), group=self.GROUP)
        template = {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i'}], 'schedulingGroup': {'podGroupName': 'gang'}}}
        self.make('jobs', {'apiVersion': 'batch/v1', 'kind': 'Job', 'metadata': {'name': 'j'}, 'spec': {'parallelism': 2, 'template': template}},
                  group='/apis/batch/v1')

        def widen(parallelism):
            path = '/apis/batch/v1/namespaces/%s/jobs/j' % self.ns
            return self.server.request('PATCH', path, {'spec': {'parallelism': parallelism}}, headers=MERGE)
        sizes = iter(range(3, 10000))
        answer = wait_for(lambda: (lambda got: got[2] if got[0] == 403 else None)(widen(next(sizes))))
        self.assertEqual(answer['message'], 'jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing gang-scheduled '
                                            'PodGroup "gang"')


class OnRequest(Admission, unittest.TestCase):
    """The plugins that a flag enables."""
    FLAGS = ('--enable-admission-plugins=AlwaysPullImages,LimitPodHardAntiAffinityTopology,ExtendedResourceToleration,PodNodeSelector,'
             'PodTolerationRestriction,NamespaceAutoProvision,EventRateLimit,OwnerReferencesPermissionEnforcement',)
    CONFIGURATIONS = {
        'PodNodeSelector': {'podNodeSelectorPluginConfig': {'clusterDefaultNodeSelector': 'infra=false'}},
        'PodTolerationRestriction': RESTRICTION,
        'EventRateLimit': {'apiVersion': 'eventratelimit.admission.k8s.io/v1alpha1', 'kind': 'Configuration',
                           'limits': [{'type': 'Namespace', 'qps': 1, 'burst': 2, 'cacheSize': 10}]}}

    def test_images_are_pulled_and_node_selectors_merged(self):
        spec = self.make('pods', pod(container={'imagePullPolicy': 'Never'}))['spec']
        self.assertEqual(spec['containers'][0]['imagePullPolicy'], 'Always')
        self.assertEqual(spec['nodeSelector'], {'infra': 'false'})
        self.assertEqual(self.refused(pod('q', nodeSelector={'infra': 'true'})),
                         'pods "q" is forbidden: pod node label selector conflicts with its namespace node label selector')

    def test_anti_affinity_is_about_nodes(self):
        def affine(key):
            term = {'topologyKey': key, 'labelSelector': {'matchLabels': {'a': 'b'}}}
            return pod('q', affinity={'podAntiAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': [term]}})
        self.assertEqual(self.refused(affine('zone')),
                         'pods "q" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key '
                         'kubernetes.io/hostname is allowed')
        self.make('pods', affine('kubernetes.io/hostname'))

    def test_tolerations_of_devices_and_of_the_allow_list(self):
        sizes = {'requests': {'example.com/gpu': '1'}, 'limits': {'example.com/gpu': '1'}}
        tolerations = self.make('pods', pod(container={'resources': sizes}))['spec']['tolerations']
        self.assertIn({'key': 'example.com/gpu', 'operator': 'Exists', 'effect': 'NoSchedule'}, tolerations)
        self.assertEqual(self.refused(pod('q', tolerations=[{'key': 'bad', 'operator': 'Exists'}]), code=500),
                         'pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist')

    def test_a_namespace_is_created_with_its_first_object(self):
        made = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'c'}}
        self.ask('POST', NS + 'brand-new/configmaps?dryRun=All', made, 404)
        self.ask('POST', NS + 'brand-new/configmaps', made)
        self.assertEqual(self.ask('GET', NS + 'brand-new')['metadata']['labels'], {'kubernetes.io/metadata.name': 'brand-new'})

    def test_events_past_the_rate_are_refused(self):
        def event(number):
            body = {'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': 'e%d' % number}, 'involvedObject': {'namespace': self.ns}}
            return self.server.request('POST', NS + self.ns + '/events', body)
        numbers = iter(range(10000))
        status, headers, answer = wait_for(lambda: (lambda got: got if got[0] != 201 else None)(event(next(numbers))))
        self.assertEqual((status, answer['reason'], answer['message']),
                         (429, 'TooManyRequests', 'Too many requests: limit reached on type Namespace for key ' + self.ns))
        self.assertNotIn('details', answer)

    def test_who_blocks_an_owner_may_finalize_it(self):
        account = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'owner'}}
        owner = self.make('configmaps', account)
        rules = [{'apiGroups': [''], 'resources': ['configmaps'], 'verbs': ['create', 'update', 'get', 'patch']}]
        rbac = '/apis/rbac.authorization.k8s.io/v1'
        role = {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'Role', 'metadata': {'name': 'r'}, 'rules': rules}
        self.make('roles', role, group=rbac)
        self.make('rolebindings', {'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'RoleBinding', 'metadata': {'name': 'r'},
                                   'roleRef': {'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'Role', 'name': 'r'},
                                   'subjects': [{'apiGroup': 'rbac.authorization.k8s.io', 'kind': 'User', 'name': 'jane'}]}, group=rbac)
        jane = {'Impersonate-User': 'jane'}

        def owned(blocks, kind='ConfigMap'):
            reference = {'apiVersion': 'v1', 'kind': kind, 'name': 'owner', 'uid': owner['metadata']['uid'], 'blockOwnerDeletion': blocks}
            return {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'owned', 'ownerReferences': [reference]}}

        def allowed(body):
            return wait_for(lambda: (lambda got: got if got[0] != 403 or 'cannot create' not in got[2]['message'] else None)(
                self.server.request('POST', NS + self.ns + '/configmaps', body, headers=jane)))
        status, _, answer = allowed(owned(True))
        self.assertEqual((status, answer['message']),
                         (403, 'configmaps "owned" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you '
                               'can\'t set finalizers on: , <nil>'))
        self.assertIn('no matches for kind "Nothing" in version "v1"', self.refused(owned(True, 'Nothing'), 'configmaps', headers=jane))
        self.make('configmaps', owned(False), headers=jane)
        self.assertEqual(self.ask('PATCH', NS + self.ns + '/configmaps/owned', {'metadata': {'ownerReferences': None}}, 403,
                                  dict(MERGE, **jane))['message'],
                         'configmaps "owned" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>')
        self.ask('PATCH', NS + self.ns + '/configmaps/owned', {'metadata': {'ownerReferences': None}}, headers=MERGE)


class Images(Admission, unittest.TestCase):
    """ImagePolicyWebhook, and NamespaceExists."""
    FLAGS = ('--enable-admission-plugins=ImagePolicyWebhook,NamespaceExists',)
    DISABLED = 'ServiceAccount,NamespaceLifecycle'  # which reads namespaces itself

    @classmethod
    def setUpClass(cls):
        cls.webhook = ImageWebhook()
        cls.CONFIGURATIONS = {'ImagePolicyWebhook': {'imagePolicy': {'kubeConfigFile': cls.webhook.kubeconfig(), 'allowTTL': 600, 'denyTTL': -1,
                                                                     'retryBackoff': 1, 'defaultAllow': False}}}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.webhook.stop()

    def count(self):
        return sum(call['spec'].get('namespace') == self.ns for call in self.webhook.calls)

    def test_the_webhook_decides_and_its_consent_is_remembered(self):
        self.assertEqual(self.refused(pod(container={'image': 'bad'})),
                         'pods "p" is forbidden: image policy webhook backend denied one or more images: not these')
        self.assertEqual(self.refused(pod(container={'image': 'bad'}))[:8], 'pods "p"')
        self.assertEqual(self.count(), 2)  # refusals are not cached here
        for name in ('a', 'b'):
            self.make('pods', pod(name, metadata={'annotations': {'x.image-policy.k8s.io/why': 'w', 'other': 'o'}}))
        self.assertEqual(self.count(), 3)
        self.assertEqual(self.webhook.calls[-1]['spec'], {'containers': [{'image': 'i'}], 'annotations': {'x.image-policy.k8s.io/why': 'w'},
                                                          'namespace': self.ns})

    def test_a_webhook_that_fails_allows_nothing(self):
        self.webhook.fails = True
        self.addCleanup(setattr, self.webhook, 'fails', False)
        self.assertEqual(self.refused(pod(container={'image': 'other'})),
                         'pods "p" is forbidden: an error on the server ("unknown") has prevented the request from succeeding')
        self.assertEqual(self.count(), 5)

    def test_a_namespace_must_exist(self):
        made = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'c'}}
        self.assertEqual(self.ask('POST', NS + 'nowhere/configmaps', made, 404)['message'], 'namespaces "nowhere" not found')
        self.make('configmaps', made)


class FailOpenImages(Admission, unittest.TestCase):
    """ImagePolicyWebhook with `defaultAllow`: a failure of the webhook lets the pod in, and the audit event says so; a denial does not."""

    @classmethod
    def setUpClass(cls):
        cls.webhook = ImageWebhook()
        cls.audit = tempfile.mkdtemp(prefix='backplane-images-')
        policy = os.path.join(cls.audit, 'policy.yaml')
        with open(policy, 'w', encoding='utf-8') as f:
            json.dump({'apiVersion': 'audit.k8s.io/v1', 'kind': 'Policy', 'rules': [{'level': 'Metadata'}]}, f)
        cls.FLAGS = ('--enable-admission-plugins=ImagePolicyWebhook', '--audit-policy-file=' + policy,
                     '--audit-log-path=' + os.path.join(cls.audit, 'log'))
        cls.CONFIGURATIONS = {'ImagePolicyWebhook': {'imagePolicy': {'kubeConfigFile': cls.webhook.kubeconfig(), 'allowTTL': 600, 'denyTTL': 600,
                                                                     'retryBackoff': 1, 'defaultAllow': True}}}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.webhook.stop()
        shutil.rmtree(cls.audit, ignore_errors=True)

    def annotations(self):
        """Those of the admission plugin in the audit events of this test's pods."""
        with open(os.path.join(self.audit, 'log'), encoding='utf-8') as f:
            events = [json.loads(line) for line in f]
        return [{key: value for key, value in event.get('annotations', {}).items() if key.startswith('imagepolicywebhook.')}
                for event in events if event['verb'] == 'create' and event['objectRef'].get('namespace') == self.ns]

    def test_a_webhook_that_fails_allows(self):
        self.webhook.fails = True
        self.addCleanup(setattr, self.webhook, 'fails', False)
        made = self.make('pods', pod(container={'image': 'bad'}))
        self.assertNotIn('annotations', made['metadata'])
        self.assertTrue(wait_for(lambda: {'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true'} in self.annotations() or None))
        self.webhook.fails = False
        # The failure is not cached.
        self.assertEqual(self.refused(pod('q', container={'image': 'bad'})),
                         'pods "q" is forbidden: image policy webhook backend denied one or more images: not these')
        # The denial is cached.
        calls = len(self.webhook.calls)
        self.refused(pod('r', container={'image': 'bad'}))
        self.assertEqual(len(self.webhook.calls), calls)


class Configurations(unittest.TestCase):
    def error_of(self, plugin, configuration):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'admission.json')
            with open(path, 'w', encoding='utf-8') as f:
                json.dump({'apiVersion': 'apiserver.config.k8s.io/v1', 'kind': 'AdmissionConfiguration',
                           'plugins': [{'name': plugin, 'configuration': configuration}]}, f)
            with Server('--enable-admission-plugins=' + plugin, '--admission-control-config-file=' + path, wait=False) as server:
                self.assertNotEqual(server.process.wait(120), 0)
                return server.text()

    def test_one_that_cannot_be_used_makes_startup_fail(self):
        for plugin, configuration, error in (
                ('EventRateLimit', {'apiVersion': 'eventratelimit.admission.k8s.io/v1alpha1', 'kind': 'Configuration'},
                 'limits: Invalid value: null: must not be empty'),
                ('EventRateLimit', {'apiVersion': 'eventratelimit.admission.k8s.io/v2', 'kind': 'Configuration'}, 'eventratelimit.admission.k8s.io/v2'),
                ('PodTolerationRestriction', dict(RESTRICTION, defaults=[]), 'unknown field "defaults"'),
                ('ImagePolicyWebhook', {'imagePolicy': {'allowTTL': 3600}}, 'valid value is between 1s and 30m0s, got 1h0m0s'),
                ('PodNodeSelector', {'other': {}}, 'unknown field "other"')):
            with self.subTest(plugin=plugin, error=error):
                self.assertIn(error, self.error_of(plugin, configuration))


if __name__ == '__main__':
    main()

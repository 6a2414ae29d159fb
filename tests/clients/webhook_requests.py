"""Requests whose reviews are compared, and the objects that they need: (name, method, path, body, media type)."""
NS, OTHER = '/api/v1/namespaces/hooked', '/api/v1/namespaces/plain'
APPS = '/apis/apps/v1/namespaces/hooked'
GROUP = 'compare.example.com'
WIDGETS = '/apis/' + GROUP + '/%s/namespaces/hooked/widgets'
APPLY, MERGE, STRATEGIC, PATCH = ('application/' + name for name in ('apply-patch+yaml', 'merge-patch+json', 'strategic-merge-patch+json', 'json-patch+json'))
LABELS = {'a': 'b'}
ANYTHING = {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}
SCALE = {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas', 'labelSelectorPath': '.status.selector'}


def named(kind, name, version='v1', labels=None, **members):
    return dict({'apiVersion': version, 'kind': kind, 'metadata': {'name': name, **({'labels': labels} if labels else {})}}, **members)


def pod_spec(**members):
    return dict({'containers': [{'name': 'c', 'image': 'i'}], 'terminationGracePeriodSeconds': 1}, **members)


def workload(kind, name, **members):
    template = {'metadata': {'labels': LABELS}, 'spec': pod_spec()}
    return named(kind, name, 'apps/v1', spec=dict({'selector': {'matchLabels': LABELS}, 'template': template}, **members))


def definition(plural, kind, conversion=None):
    versions = [{'name': version, 'served': True, 'storage': version == 'v1', 'schema': {'openAPIV3Schema': ANYTHING},
                 'subresources': {'status': {}, 'scale': SCALE}} for version in ('v1', 'v2')]
    return named('CustomResourceDefinition', '%s.%s' % (plural, GROUP), 'apiextensions.k8s.io/v1', spec=dict(
        {'group': GROUP, 'scope': 'Namespaced', 'names': {'plural': plural, 'singular': kind.lower(), 'kind': kind}, 'versions': versions},
        **({'conversion': conversion} if conversion else {})))


CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
BEFORE = [
    ('POST', '/api/v1/namespaces', named('Namespace', 'hooked', labels={'team': 'a'})), ('POST', '/api/v1/namespaces', named('Namespace', 'plain')),
    ('POST', '/api/v1/namespaces', named('Namespace', 'leaving')), ('POST', '/api/v1/nodes', named('Node', 'n1')),
    ('POST', CRDS, definition('widgets', 'Widget')),
    *[('POST', NS + '/configmaps', named('ConfigMap', name, labels=labels, data={'a': 'b'}))
      for name, labels in (('one', LABELS), ('two', None), ('gone', None), ('many-1', {'many': 'x'}), ('many-2', {'many': 'x'}))],
    *[('POST', NS + '/pods', named('Pod', name, labels=LABELS, spec=pod_spec(**spec))) for name, spec in (
        ('p1', {}), ('p2', {'nodeName': 'n1'}), ('p3', {}), ('p4', {}), ('p5', {'nodeName': 'n1'}))],
    ('POST', APPS + '/deployments', workload('Deployment', 'd1')), ('POST', APPS + '/statefulsets', workload('StatefulSet', 's1', serviceName='x')),
    ('POST', APPS + '/replicasets', workload('ReplicaSet', 'r1')),
    ('POST', NS + '/replicationcontrollers', named('ReplicationController', 'rc1', spec={
        'selector': LABELS, 'template': {'metadata': {'labels': LABELS}, 'spec': pod_spec()}})),
    ('POST', NS + '/services', named('Service', 'svc', spec={'ports': [{'port': 80}]})), ('POST', NS + '/serviceaccounts', named('ServiceAccount', 'sa')),
    ('POST', '/apis/autoscaling/v2/namespaces/hooked/horizontalpodautoscalers', named('HorizontalPodAutoscaler', 'h1', 'autoscaling/v2', spec={
        'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd1'}, 'maxReplicas': 3})),
    ('POST', '/apis/policy/v1/namespaces/hooked/poddisruptionbudgets', named('PodDisruptionBudget', 'b1', 'policy/v1', spec={
        'minAvailable': 1, 'selector': {'matchLabels': {'none': 'x'}}})),
]
WIDGET_BEFORE = [('POST', WIDGETS % 'v1', named('Widget', 'w1', GROUP + '/v1', labels=LABELS, spec={'replicas': 1, 'size': 1.5}))]
EVENT = {'involvedObject': {'kind': 'Pod', 'namespace': 'hooked', 'name': 'p1'}, 'reason': 'R', 'message': 'm', 'type': 'Normal'}
NEW_EVENT = {'eventTime': '2020-01-01T00:00:00.000000Z', 'action': 'A', 'reason': 'R', 'type': 'Normal', 'reportingController': 'example.com/c',
             'reportingInstance': 'i', 'regarding': {'kind': 'Pod', 'namespace': 'hooked', 'name': 'p1'}}
AUTOSCALER = {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd1'}, 'maxReplicas': 4}
REVIEW = {'resourceAttributes': {'verb': 'list', 'resource': 'pods'}}
POLICY = {'matchConstraints': {'resourceRules': [{'operations': ['*'], 'apiGroups': ['x'], 'apiVersions': ['*'], 'resources': ['x']}]},
          'validations': [{'expression': 'true'}]}


def dry(path):
    return path if 'dryRun' in path else path + ('&' if '?' in path else '?') + 'dryRun=All'


def requests():
    maps, pods, scale = NS + '/configmaps', NS + '/pods', APPS + '/deployments/d1/scale'
    scaled = named('Scale', 'd1', 'autoscaling/v1', spec={'replicas': 2})
    hpas = '/apis/autoscaling/%s/namespaces/hooked/horizontalpodautoscalers'
    eviction, binding = named('Eviction', 'p3', 'policy/v1'), named('Binding', 'p1', target={'kind': 'Node', 'name': 'n1'})
    return [
        # It is deleted much later, when its conditions are stored and in every cache.
        ('POST', CRDS, definition('gadgets', 'Gadget')),
        ('POST', maps, named('ConfigMap', 'new', labels=LABELS)), ('POST', dry(maps), named('ConfigMap', 'dry')),
        ('POST', maps + '?fieldManager=me&fieldValidation=Strict', named('ConfigMap', 'managed')),
        ('POST', maps, {'metadata': {'generateName': 'made-'}}), ('POST', maps, named('ConfigMap', 'one')), ('POST', maps, {}),
        ('POST', OTHER + '/configmaps', named('ConfigMap', 'new')),
        ('PUT', maps + '/one', named('ConfigMap', 'one', labels=LABELS, data={'a': 'c'})), ('PUT', maps + '/one', named('ConfigMap', 'one', data={'a': 'c'})),
        ('PUT', maps + '/none', named('ConfigMap', 'none')), ('PUT', dry(maps + '/two'), named('ConfigMap', 'two')),
        ('PATCH', maps + '/two', {'data': {'x': 'y'}}, MERGE), ('PATCH', maps + '/two', {'data': {'x': 'y'}}, MERGE),
        ('PATCH', maps + '/two', {'data': {'z': None}}, STRATEGIC), ('PATCH', maps + '/two', [{'op': 'add', 'path': '/data/q', 'value': '1'}], PATCH),
        ('PATCH', maps + '/none', {'data': {}}, MERGE),
        ('PATCH', maps + '/two?fieldManager=me&force=true', named('ConfigMap', 'two', data={'x': 'z'}), APPLY),
        ('PATCH', maps + '/applied?fieldManager=me', named('ConfigMap', 'applied', data={'x': 'z'}), APPLY),
        ('DELETE', dry(maps + '/gone'), None), ('DELETE', maps + '/gone?gracePeriodSeconds=3&propagationPolicy=Orphan', None),
        ('DELETE', maps + '/gone', None),
        ('DELETE', maps + '/new', {'kind': 'DeleteOptions', 'apiVersion': 'v1', 'preconditions': {'uid': 'x'}}),
        ('DELETE', maps + '?labelSelector=many%3Dx', None), ('DELETE', maps + '?labelSelector=many%3Dnone', None),
        ('POST', pods, named('Pod', 'new', labels=LABELS, spec=pod_spec())), ('POST', pods, named('Pod', 'bad', spec={})),
        ('PATCH', pods + '/p1', {'metadata': {'labels': {'c': 'd'}}}, STRATEGIC), ('PATCH', pods + '/p1/status', {'status': {'phase': 'Running'}}, STRATEGIC),
        ('PATCH', pods + '/p1/ephemeralcontainers', {'spec': {'ephemeralContainers': [{'name': 'e', 'image': 'i'}]}}, STRATEGIC),
        ('PATCH', pods + '/p1/resize', {'spec': {'containers': [{'name': 'c', 'resources': {'limits': {'cpu': '1'}}}]}}, STRATEGIC),
        ('POST', pods + '/p1/binding', binding), ('POST', dry(pods + '/p4/binding'), dict(binding, metadata={'name': 'p4'})),
        ('POST', NS + '/bindings', dict(binding, metadata={'name': 'p4'})),
        ('POST', dry(pods + '/p3/eviction'), eviction), ('POST', pods + '/p3/eviction', eviction), ('POST', pods + '/none/eviction', eviction),
        *[('POST', pods + '/p1/' + sub, None) for sub in ('exec?command=ls&container=c&stdin=true', 'attach?stdout=true', 'portforward?ports=80', 'proxy/x?y=z')],
        ('GET', pods + '/p1/exec?command=ls', None), ('GET', pods + '/none/exec?command=ls', None), ('GET', pods + '/p1/log', None),
        ('DELETE', pods + '/p1/proxy', None), ('GET', NS + '/services/svc/proxy/path', None), ('PUT', '/api/v1/nodes/n1/proxy/stats', None),
        ('DELETE', pods + '/p5', None), ('DELETE', pods + '/p4?gracePeriodSeconds=0', None),
        ('PUT', scale, scaled), ('PATCH', scale, {'spec': {'replicas': 3}}, MERGE), ('PUT', dry(scale), scaled),
        ('PATCH', APPS + '/statefulsets/s1/scale', {'spec': {'replicas': 0}}, MERGE), ('PATCH', APPS + '/replicasets/r1/scale', {'spec': {'replicas': 2}}, MERGE),
        ('PATCH', NS + '/replicationcontrollers/rc1/scale', {'spec': {'replicas': 2}}, MERGE),
        ('PATCH', APPS + '/deployments/d1', {'spec': {'paused': True}}, MERGE), ('PATCH', APPS + '/deployments/d1/status', {'status': {'replicas': 1}}, MERGE),
        *[(method, WIDGETS % version + tail, body, *media) for version in ('v1', 'v2') for method, tail, body, *media in (
            ('POST', '', named('Widget', 'new-' + version, GROUP + '/' + version, labels=LABELS, spec={'replicas': 1, 'z': 1e3, 'a': [1.0, None]})),
            ('PATCH', '/w1', {'spec': {'size': version}}, MERGE), ('PATCH', '/w1/status', {'status': {'replicas': 1}}, MERGE),
            ('PATCH', '/w1/scale', {'spec': {'replicas': 2 + (version == 'v2')}}, MERGE),
            ('PATCH', '/applied-%s?fieldManager=me' % version, named('Widget', 'applied-' + version, GROUP + '/' + version, spec={'x': 1}), APPLY),
            ('DELETE', '/new-' + version, None))],
        ('DELETE', WIDGETS % 'v2', None),
        ('POST', '/api/v1/namespaces', named('Namespace', 'made', labels=LABELS)), ('PATCH', '/api/v1/namespaces/made', {'metadata': {'labels': {'c': 'd'}}}, MERGE),
        ('PATCH', '/api/v1/namespaces/made/status', {'status': {'phase': 'Active'}}, MERGE), ('DELETE', '/api/v1/namespaces/leaving', None),
        ('POST', '/api/v1/nodes', named('Node', 'n2')), ('PATCH', '/api/v1/nodes/n2/status', {'status': {'capacity': {'cpu': '2'}}}, STRATEGIC),
        ('DELETE', '/api/v1/nodes/n2', None),
        ('POST', NS + '/serviceaccounts/sa/token', {'spec': {'audiences': ['x'], 'expirationSeconds': 600}}),
        ('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {'spec': {'token': 'x'}}),
        ('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}),
        ('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {'spec': REVIEW}),
        ('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {'spec': dict(REVIEW, user='u')}),
        ('POST', '/apis/authorization.k8s.io/v1/namespaces/hooked/localsubjectaccessreviews', {'metadata': {'namespace': 'hooked'}, 'spec': dict(
            REVIEW, user='u', resourceAttributes={'verb': 'list', 'resource': 'pods', 'namespace': 'hooked'})}),
        *[('POST', hpas % version, named('HorizontalPodAutoscaler', 'new-' + version, 'autoscaling/' + version, spec=AUTOSCALER)) for version in ('v1', 'v2')],
        ('PATCH', hpas % 'v1' + '/h1', {'spec': {'maxReplicas': 5}}, MERGE), ('PATCH', hpas % 'v1' + '/h1/status', {'status': {'currentReplicas': 1}}, MERGE),
        ('DELETE', hpas % 'v1' + '/h1', None),
        ('POST', NS + '/events', named('Event', 'e1', **EVENT)),
        ('POST', '/apis/events.k8s.io/v1/namespaces/hooked/events', named('Event', 'e2', 'events.k8s.io/v1', **NEW_EVENT)),
        ('DELETE', '/apis/events.k8s.io/v1/namespaces/hooked/events', None),
        ('PATCH', '/apis/policy/v1/namespaces/hooked/poddisruptionbudgets/b1/status', {'status': {'disruptionsAllowed': 1}}, MERGE),
        ('POST', NS + '/services', named('Service', 'new', spec={'ports': [{'port': 80}], 'clusterIP': '10.0.77.77'})),
        ('PATCH', NS + '/services/new', {'spec': {'type': 'ClusterIP', 'sessionAffinity': 'ClientIP'}}, STRATEGIC), ('DELETE', NS + '/services/new', None),
        ('POST', NS + '/secrets', named('Secret', 'new', stringData={'a': 'b'})), ('PATCH', NS + '/secrets/new', {'stringData': {'c': 'd'}}, MERGE),
        ('POST', '/apis/batch/v1/namespaces/hooked/cronjobs', named('CronJob', 'c1', 'batch/v1', spec={'schedule': '* * * * *', 'jobTemplate': {
            'spec': {'template': {'spec': pod_spec(restartPolicy='Never')}}}})),
        ('POST', '/apis/coordination.k8s.io/v1/namespaces/hooked/leases', named('Lease', 'l1', 'coordination.k8s.io/v1', spec={'holderIdentity': 'x'})),
        ('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', named('ClusterRole', 'cr', 'rbac.authorization.k8s.io/v1', rules=[{'nonResourceURLs': ['/x'], 'verbs': ['get']}])),
        ('DELETE', CRDS + '/gadgets.' + GROUP, None),
        *[('POST', '/apis/admissionregistration.k8s.io/v1/' + plural, named(kind, 'exempt', 'admissionregistration.k8s.io/v1', **members))
          for plural, kind, members in (('validatingwebhookconfigurations', 'ValidatingWebhookConfiguration', {}),
                                        ('validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {'spec': POLICY}))],
        ('DELETE', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/exempt', None),
        ('PUT', '/api/v1/namespaces/made/finalize', named('Namespace', 'made', spec={'finalizers': ['kubernetes', 'example.com/x']})),
        ('GET', maps, None),
    ]


def rule(operations=('*',), groups=('*',), versions=('*',), resources=('*/*',), scope=None):
    return dict({'operations': list(operations), 'apiGroups': list(groups), 'apiVersions': list(versions), 'resources': list(resources)},
                **({'scope': scope} if scope else {}))


# The webhooks and their changes to the configuration.
MATCHES = {
    'everything': {}, 'no-rules': {'rules': None},
    **{'op-' + name.lower(): {'rules': [rule([name])]} for name in ('CREATE', 'UPDATE', 'DELETE', 'CONNECT')},
    'op-two': {'rules': [rule(['CREATE', 'DELETE'])]}, 'two-rules': {'rules': [rule(['CREATE'], resources=['pods']), rule(['DELETE'], resources=['configmaps'])]},
    **{'scope-' + name.lower(): {'rules': [rule(scope=name)]} for name in ('Cluster', 'Namespaced')},
    'core': {'rules': [rule(groups=[''])]}, 'core-v2': {'rules': [rule(groups=[''], versions=['v2'])]},
    **{'res-' + name.replace('/', '-').replace('*', 'all'): {'rules': [rule(resources=[name])]} for name in (
        '*', 'pods', 'pods/*', 'pods/exec', 'pods/binding', 'pods/eviction', 'pods/status', '*/status', '*/scale', 'deployments/scale', 'bindings',
        'namespaces', 'namespaces/finalize', 'serviceaccounts/token', 'nodes/proxy', 'widgets', 'widgets/scale')},
    'res-several': {'rules': [rule(resources=['pods', 'pods/exec', 'services/proxy'])]},
    **{'%s-%s' % (policy.lower(), name): {'matchPolicy': policy, 'rules': rules} for policy in ('Exact', 'Equivalent') for name, rules in (
        ('hpa-v1', [rule(groups=['autoscaling'], versions=['v1'])]), ('hpa-v2', [rule(groups=['autoscaling'], versions=['v2'])]),
        ('widget-v1', [rule(groups=[GROUP], versions=['v1'])]), ('widget-v2', [rule(groups=[GROUP], versions=['v2'])]),
        ('widget-v2-scale', [rule(groups=[GROUP], versions=['v2'], resources=['widgets/scale'])]),
        ('event-core', [rule(groups=[''], resources=['events'])]), ('event-new', [rule(groups=['events.k8s.io'], resources=['events'])]),
        ('order', [rule(groups=[GROUP], versions=['v2']), rule(groups=[GROUP], versions=['v1'])]))},
    **{'ns-' + name: {'namespaceSelector': selector} for name, selector in (
        ('team', {'matchLabels': {'team': 'a'}}), ('other', {'matchLabels': {'team': 'b'}}), ('missing', {'matchExpressions': [
            {'key': 'team', 'operator': 'DoesNotExist'}]}), ('name', {'matchLabels': {'kubernetes.io/metadata.name': 'hooked'}}),
        ('in', {'matchExpressions': [{'key': 'a', 'operator': 'In', 'values': ['b']}]}), ('empty', {}))},
    **{'obj-' + name: {'objectSelector': selector} for name, selector in (
        ('label', {'matchLabels': LABELS}), ('missing', {'matchExpressions': [{'key': 'a', 'operator': 'DoesNotExist'}]}),
        ('not-in', {'matchExpressions': [{'key': 'a', 'operator': 'NotIn', 'values': ['b', 'c']}]}), ('added', {'matchLabels': {'c': 'd'}}))},
    **{'if-' + name: {'matchConditions': [{'name': 'c%d' % i, 'expression': text} for i, text in enumerate(texts)]} for name, texts in (
        ('dry', ['request.dryRun']), ('object', ['object != null']), ('old', ['oldObject == null']), ('kind', ['request.kind.kind == "Pod"']),
        ('request-kind', ['request.requestKind.version == "v1"']), ('two', ['object != null', 'has(object.metadata.labels)']),
        ('options', ['has(request.options.kind) && request.options.kind == "CreateOptions"']), ('error', ['object.spec.none == 1']),
        ('error-and-false', ['object.spec.none == 1', 'false']), ('namespace-object', ['namespaceObject == null']),
        ('namespace-labels', ['namespaceObject.metadata.name == "hooked"']), ('sub', ['request.subResource == "exec"']),
        ('user', ['"system:masters" in request.userInfo.groups']), ('authorizer', ['authorizer.requestResource.check("delete").allowed()']),
        ('path', ['authorizer.path("/healthz").check("get").allowed()']))},
    'sides-none-on-dry-run': {'sideEffects': 'NoneOnDryRun'}, 'beta': {'admissionReviewVersions': ['v9', 'v1beta1', 'v1']},
}

"""Checks of a running server with the Python client: one line for each, "ok NAME" or "FAIL NAME: why".  argv: a kubeconfig."""
import sys
import threading
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException

import following

config.load_kube_config(sys.argv[1])
CORE, APPS = client.CoreV1Api(), client.AppsV1Api()
LABELS = {'app': 'web'}


def same(got, wanted):
    if got != wanted:
        raise AssertionError('%r, not %r' % (got, wanted))


def refused(code, reason, call, *args, **kw):
    try:
        call(*args, **kw)
    except (ApiException, dynamic.exceptions.DynamicApiError) as error:
        same(error.status, code)
        if reason not in str(error.body):
            raise AssertionError('%s does not say %s' % (error.body, reason)) from None
        return
    raise AssertionError('it was not refused')


def configmap(ns, name, **data):
    return CORE.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data))


def deployment():
    return client.V1Deployment(metadata=client.V1ObjectMeta(name='web'), spec=client.V1DeploymentSpec(
        replicas=2, selector=client.V1LabelSelector(match_labels=LABELS), template=client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels=LABELS), spec=client.V1PodSpec(containers=[client.V1Container(name='c', image='example.com/c:1')]))))


def typed_life(ns):
    made = APPS.create_namespaced_deployment(ns, deployment())
    same(made.spec.strategy.type, 'RollingUpdate')
    made.spec.replicas = 3
    put = APPS.replace_namespaced_deployment('web', ns, made)
    same((put.spec.replicas, put.metadata.generation), (3, 2))
    refused(409, 'the object has been modified', APPS.replace_namespaced_deployment, 'web', ns, made)
    same([d.metadata.name for d in APPS.list_namespaced_deployment(ns, label_selector='!none').items], ['web'])
    APPS.delete_namespaced_deployment('web', ns, propagation_policy='Background')
    refused(404, 'not found', APPS.read_namespaced_deployment, 'web', ns)


def patches(ns):
    APPS.create_namespaced_deployment(ns, deployment())
    resource = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version='apps/v1', kind='Deployment')

    def patch(body, content_type):
        return resource.patch(body=body, name='web', namespace=ns, content_type=content_type).spec
    same(patch({'spec': {'replicas': 4}}, 'application/merge-patch+json').replicas, 4)
    same(patch([{'op': 'replace', 'path': '/spec/replicas', 'value': 5}], 'application/json-patch+json').replicas, 5)
    both = patch({'spec': {'template': {'spec': {'containers': [{'name': 'd', 'image': 'i'}]}}}}, 'application/strategic-merge-patch+json')
    same(sorted(c.name for c in both.template.spec.containers), ['c', 'd'])


def applies(ns):
    resource = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version='v1', kind='ConfigMap')

    def apply(manager, value, **kw):
        body = {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'a', 'namespace': ns}, 'data': {'k': value}}
        return resource.server_side_apply(body=body, namespace=ns, field_manager=manager, **kw)
    same(apply('one', '1').data.k, '1')
    refused(409, 'conflict with', apply, 'two', '2')
    same(apply('two', '2', force_conflicts=True).data.k, '2')
    got = CORE.read_namespaced_config_map('a', ns)
    same([m.manager for m in got.metadata.managed_fields], ['two'])


def status_and_scale(ns):
    APPS.create_namespaced_deployment(ns, deployment())
    same(APPS.patch_namespaced_deployment_status('web', ns, {'status': {'replicas': 2}}).status.replicas, 2)
    same(APPS.patch_namespaced_deployment_scale('web', ns, {'spec': {'replicas': 6}}).spec.replicas, 6)
    same(APPS.read_namespaced_deployment('web', ns).spec.replicas, 6)


def watches(ns):
    first = configmap(ns, 'first')
    seen, stream = [], watch.Watch()

    def change():
        configmap(ns, 'second', k='v')
        CORE.delete_namespaced_config_map('first', ns)
    threading.Timer(0.2, change).start()
    for event in stream.stream(CORE.list_namespaced_config_map, ns, resource_version=first.metadata.resource_version, timeout_seconds=60):
        seen.append((event['type'], event['object'].metadata.name))
        if len(seen) == 2:
            stream.stop()
    same(seen, [('ADDED', 'second'), ('DELETED', 'first')])


def pages(ns):
    for number in range(7):
        configmap(ns, 'p%d' % number)
    found, token = [], None
    while token != '':
        page = CORE.list_namespaced_config_map(ns, limit=3, _continue=token)
        found += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ''
    same(found, ['p%d' % n for n in range(7)])


def collections(ns):
    for number in range(4):
        configmap(ns, 'c%d' % number)
    CORE.delete_collection_namespaced_config_map(ns, field_selector='metadata.name!=c2')
    same([item.metadata.name for item in CORE.list_namespaced_config_map(ns).items], ['c2'])


def evictions(ns):
    pod = client.V1Pod(metadata=client.V1ObjectMeta(name='p'), spec=client.V1PodSpec(containers=[client.V1Container(name='c', image='i')]))
    CORE.create_namespaced_pod(ns, pod)
    CORE.create_namespaced_pod_eviction('p', ns, client.V1Eviction(metadata=client.V1ObjectMeta(name='p')))
    refused(404, 'not found', CORE.read_namespaced_pod, 'p', ns)


def dry_runs(ns):
    CORE.create_namespaced_config_map(ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name='d')), dry_run='All')
    refused(404, 'not found', CORE.read_namespaced_config_map, 'd', ns)


def custom_objects(ns):
    group = ns + '.example.com'
    schema = client.V1JSONSchemaProps(type='object', x_kubernetes_preserve_unknown_fields=True)
    names = client.V1CustomResourceDefinitionNames(plural='toys', singular='toy', kind='Toy', list_kind='ToyList')
    version = client.V1CustomResourceDefinitionVersion(name='v1', served=True, storage=True, schema=client.V1CustomResourceValidation(open_apiv3_schema=schema))
    definition = client.V1CustomResourceDefinition(metadata=client.V1ObjectMeta(name='toys.' + group), spec=client.V1CustomResourceDefinitionSpec(
        group=group, scope='Namespaced', names=names, versions=[version]))
    definitions, objects = client.ApiextensionsV1Api(), client.CustomObjectsApi()
    definitions.create_custom_resource_definition(definition)
    for _ in range(600):
        conditions = definitions.read_custom_resource_definition('toys.' + group).status.conditions or []
        if any(c.type == 'Established' and c.status == 'True' for c in conditions):
            break
        time.sleep(0.1)
    objects.create_namespaced_custom_object(group, 'v1', ns, 'toys', {'apiVersion': group + '/v1', 'kind': 'Toy', 'metadata': {'name': 't'}, 'size': 1})
    same(objects.patch_namespaced_custom_object(group, 'v1', ns, 'toys', 't', {'size': 2})['size'], 2)
    same([t['size'] for t in objects.list_namespaced_custom_object(group, 'v1', ns, 'toys')['items']], [2])
    definitions.delete_custom_resource_definition('toys.' + group)


def from_dicts(ns):
    utils.create_from_dict(client.ApiClient(), {'apiVersion': 'v1', 'kind': 'List', 'items': [
        {'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'x'}, 'data': {'a': 'b'}},
        {'apiVersion': 'batch/v1', 'kind': 'CronJob', 'metadata': {'name': 'j'}, 'spec': {'schedule': '* * * * *', 'jobTemplate': {'spec': {
            'template': {'spec': {'restartPolicy': 'Never', 'containers': [{'name': 'c', 'image': 'i'}]}}}}}}]}, namespace=ns)
    same(client.BatchV1Api().read_namespaced_cron_job('j', ns).spec.concurrency_policy, 'Allow')


def describes(_):
    same(client.VersionApi().get_code().minor, '36')
    groups = [g.name for g in client.ApisApi().get_api_versions().groups]
    same([g for g in ('apps', 'batch', 'apiextensions.k8s.io') if g not in groups], [])
    found = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version='v1', kind='Pod')
    same((found.namespaced, 'po' in found.short_names), (True, True))


CHECKS = [typed_life, patches, applies, status_and_scale, watches, pages, collections, evictions, dry_runs, custom_objects, from_dicts, describes] + following.CHECKS
failed = False
for index, check in enumerate(CHECKS):
    namespace = 'python-%d' % index
    try:
        CORE.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=namespace)))
        check(namespace)
        print('ok', check.__name__, flush=True)
    except Exception as error:  # any error is reported, and the other checks still run
        failed = True
        print('FAIL %s: %s' % (check.__name__, ' '.join(str(error).split())), flush=True)
sys.exit(failed)

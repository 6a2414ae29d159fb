"""Flows of reading and creating: get, create and its generators, describe, explain, events, authorization, certificates."""
from flows import NEWEST, Call, Flow, Gone, Has, K
from flows_apply import DEPLOYMENT, configmap
from flows_workloads import POD

SIX = ''.join(configmap('c%d' % n, '{num: "%d"}' % n, '{odd: "%d"}' % (n % 2)) for n in range(6))
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: flows.{ns}.example.com}
spec:
  group: {ns}.example.com
  scope: Namespaced
  names: {plural: flows, singular: flow, kind: Flow, shortNames: [fl-{ns}], categories: [cat-{ns}]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, minimum: 1, description: How big it is}, name: {type: string, default: none}}}
          status: {type: object, properties: {size: {type: integer}}}
"""
FLOW = 'apiVersion: {ns}.example.com/v1\nkind: Flow\nmetadata: {name: f}\nspec: {size: %d}\n'
# kubectl learns of a new kind from discovery, which shows it a moment after the condition: the cache of kubectl is not used.
KNOWN = K('wait --for=condition=Established crd/flows.{ns}.example.com --timeout=60s', says='condition met')
EVENT = Call('POST', '/api/v1/namespaces/{ns}/events', {'metadata': {'name': 'e'}, 'involvedObject': {'kind': 'ConfigMap', 'name': 'c', 'namespace': '{ns}',
             'apiVersion': 'v1', 'uid': '{uid:cm/c}'}, 'reason': 'Tested', 'message': 'it was looked at', 'type': 'Warning', 'count': 1,
             'firstTimestamp': '2024-01-01T00:00:00Z', 'lastTimestamp': '2024-01-01T00:00:00Z'})
ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r, namespace: {ns}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: {ns}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: u}]
"""

# `kubectl create`: the command, the created object, a path in it, and the value.
MAKES = [
    ('create clusterrole {ns} --verb=get,list --resource=pods,deploy.apps', 'clusterrole {ns}', '{.rules[*].resources}', '["pods"] ["deployments"]', 0),
    ('create clusterrolebinding {ns} --clusterrole=view --user=u --group=g', 'clusterrolebinding {ns}', '{.subjects[*].name}', 'u g', 0),
    ('create configmap c --from-literal=a=1 --from-file={dir}/file', 'cm c', '{.data}', '{"a":"1","file":"text"}', 0),
    ('create configmap e --from-env-file={dir}/env', 'cm e', '{.data}', '{"A":"1","B":"2"}', 0),
    ('create cronjob j --image=i --schedule="*/5 * * * *" -- date', 'cronjob j', '{.spec.schedule}', '*/5 * * * *', 21),
    ('create deployment d --image=i --replicas=3 --port=80', 'deploy d', '{.spec.replicas}', '3', 0),
    ('create ingress i --rule="a.example.com/p*=svc:80,tls=s" --class=k', 'ingress i', '{.spec.rules[0].http.paths[0].pathType}', 'Prefix', 0),
    ('create job once --image=i -- date', 'job once', '{.spec.template.spec.containers[0].command}', '["date"]', 0),
    ('create job again --from=cronjob/j', 'job again', '{.metadata.ownerReferences[0].kind}', 'CronJob', 21),
    ('create namespace {ns}-x', 'ns {ns}-x', '{.status.phase}', 'Active', 0),
    ('create poddisruptionbudget b --selector=a=b --min-available=50%', 'pdb b', '{.spec.minAvailable}', '50%', 21),
    ('create priorityclass {ns} --value=7 --description=x', 'priorityclass {ns}', '{.value}', '7', 0),
    ('create quota q --hard=cpu=1,pods=2', 'quota q', '{.spec.hard.pods}', '2', 0),
    ('create role r --verb=get --resource=pods --resource-name=x', 'role r', '{.rules[0].resourceNames}', '["x"]', 0),
    ('create rolebinding b --role=r --serviceaccount={ns}:sa', 'rolebinding b', '{.subjects[0].kind}', 'ServiceAccount', 0),
    ('create secret generic g --from-literal=a=b', 'secret g', '{.data.a}', 'Yg==', 0),
    ('create secret docker-registry r --docker-username=u --docker-password=p --docker-server=s', 'secret r', '{.type}', 'kubernetes.io/dockerconfigjson', 0),
    ('create service clusterip sc --tcp=80:8080', 'svc sc', '{.spec.ports[0].targetPort}', '8080', 0),
    ('create service externalname se --external-name=x.example.com', 'svc se', '{.spec.externalName}', 'x.example.com', 0),
    ('create service loadbalancer sl --tcp=80', 'svc sl', '{.spec.type}', 'LoadBalancer', 0),
    ('create service nodeport sn --tcp=80', 'svc sn', '{.spec.type}', 'NodePort', 0),
    ('create serviceaccount sa', 'sa sa', '{.metadata.name}', 'sa', 0),
]
MADE = [step for line, what, path, value, since in MAKES for step in (K(line, says='created', since=since), Has(what, path, value, since=since))]

FLOWS = [
    Flow('create everything', *MADE, K('create token sa --duration=1h', says='ey', since=24),
         files={'file': 'text', 'env': 'A=1\nB=2\n'}),
    Flow('create a TLS secret', K('create secret tls t --cert={dir}/tls.crt --key={dir}/tls.key', says='secret/t created'),
         Has('secret t', '{.type}', 'kubernetes.io/tls')),
    Flow('get, pages', K('create -f -', SIX), K('get cm --chunk-size=2', says=['c0', 'c5']), K('get cm --chunk-size=2 -l odd=1 -o name', says='c5', lacks='c4'),
         K('get cm --chunk-size=1 --sort-by=.data.num -o name', says='configmap/c0\nconfigmap/c1\nconfigmap/c2')),
    Flow('get, forms', K('create -f -', SIX), K("get cm -o custom-columns=N:.metadata.name,V:.data.num --no-headers", says='c3'),
         K("get cm c1 -o go-template='{{.data.num}}-{{.kind}}'", says='1-ConfigMap'), K('get cm --show-labels', says='odd=1'), K('get cm -A', says='{ns}'),
         K("get cm --field-selector=metadata.name!=c1 -o name", lacks='c1', says='c2'), K('get cm,secret -o name', says='configmap/c0'),
         K('get cm c1 -o wide', says='DATA'), K('get cm c1 c2 -o json', says=['"kind": "List"', '"c2"']), K('get cm nothing --ignore-not-found', lacks='c'),
         K('get cm c1 --show-managed-fields -o yaml', says='managedFields', since=21), K('get cm c1 -o yaml', lacks='managedFields', since=21),
         K('get all', says='No resources found'), K('get cm -o name --server-print=false', says='c0'), K('get cm --server-print=false', says='AGE'),
         K('get --raw /api/v1/namespaces/{ns}/configmaps/c1', says='"num":"1"'), K('get nonsense', code=1, says="the server doesn't have a resource type")),
    Flow('raw requests', K('create --raw /api/v1/namespaces/{ns}/configmaps -f -', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"r"}}', says='"r"'),
         K('replace --raw /api/v1/namespaces/{ns}/configmaps/r -f -', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"r"},"data":{"a":"1"}}', says='"a":"1"'),
         K('delete --raw /api/v1/namespaces/{ns}/configmaps/r', says='Success'), Gone('cm r')),
    Flow('events', K('create -f -', configmap('c', '{}')), EVENT, K('get events', says=['Tested', 'configmap/c', 'it was looked at']),
         K('get events --field-selector=reason=Tested,type=Warning -o name', says='event/e'), K('get events --field-selector=reason=Other', says='No resources found'),
         K('events', says='Tested', since=26), K('events --for=configmap/c --types=Warning', says='it was looked at', since=26),
         K('describe cm c', says=['Warning', 'Tested', 'it was looked at'])),
    Flow('describe', K('create -f -', DEPLOYMENT + '---\n' + POD % ('p', '') + '---\n' + configmap('c', '{key: value}')), K('create secret generic s --from-literal=a=bcd'),
         K('create service clusterip web --tcp=80:8080'), K('create quota q --hard=pods=2'), K('create job once --image=i'),
         K('describe deploy web', says=['Replicas:', '2 desired', 'example.com/c:1', 'RollingUpdateStrategy']),
         K('describe pod p', says=['Containers:', 'Image:', 'QoS Class']), K('describe cm c', says=['key:', 'value']),
         K('describe secret s', says='3 bytes', lacks='bcd'), K('describe svc web', says=['Selector:', 'app=web', 'Endpoints']),
         K('describe quota q', says='Resource'), K('describe job once', says='Parallelism:', since=21), K('describe ns {ns}', says=['Status:', 'Active', 'Resource Quotas']),
         K('describe cm nothing', code=1, says='NotFound')),
    Flow('explain', K('explain deploy.spec.template.spec.containers', says=['imagePullPolicy', 'KIND:', 'Deployment']), K('explain pods --recursive', says='ephemeralContainers'),
         K('explain hpa --api-version=autoscaling/v2', says='autoscaling'), K('explain deploy.spec --output=plaintext-openapiv2', says='replicas', since=27),
         K('explain deploy.spec.nothing', code=1, says='nothing')),
    Flow('api-resources', K('api-resources --namespaced=false -o name', says=['nodes', 'clusterroles.rbac.authorization.k8s.io'], lacks='\npods'),
         K('api-resources --api-group=apps --no-headers', says=['deploy', 'sts', 'rs', 'ds'], lacks='pods'),
         K('api-resources --verbs=deletecollection,watch -o wide', says=['pods', 'deletecollection'], lacks='tokenreviews'),
         K('api-resources --categories=all -o name', says='deployments.apps', lacks='secrets', since=28), K('api-versions', says=['v1', 'apps/v1'])),
    Flow('a kind of one\'s own', K('create -f -', DEFINITION), KNOWN, K('apply -f -', FLOW % 3, says='flow.{ns}.example.com/f created'),
         K('get flows', says=['SIZE', '3']), K('get fl-{ns} -o name', says='flow.{ns}.example.com/f'), K('get cat-{ns} -o name', says='/f'),
         K('explain flows.spec', says='How big it is'), K('apply -f -', FLOW % 4, says='configured'), Has('flows f', '{.spec}', '{"name":"none","size":4}'),
         K('apply -f -', FLOW % 0, code=1, says='should be greater than or equal to 1'), K('scale flows f --replicas=8', says='scaled'),
         Has('flows f', '{.spec.size}', '8'), K("patch flows f -p '{}'", code=1),
         K('apply --server-side --field-manager=x -f -', FLOW % 9, code=1, says='.spec.size'), K('diff -f -', FLOW % 7, code=1, says=['-  size: 8', '+  size: 7']),
         K('describe flows f', says=['Size:', '8']), K('delete crd flows.{ns}.example.com', says='deleted'), Gone('crd flows.{ns}.example.com')),
    Flow('authorization', K('auth can-i create deployments', says='yes'), K("auth can-i '*' '*' --all-namespaces", says='yes'),
         K('auth can-i --list', says=['Resources', '*.*']), K('auth whoami', says='system:masters', since=27),
         K('auth reconcile -f -', ROLES, says=['role.rbac.authorization.k8s.io/r reconciled', 'rolebinding.rbac.authorization.k8s.io/b reconciled']),
         Has('rolebinding b', '{.subjects[0].name}', 'u')),
    Flow('certificates', K('create -f {dir}/request.yaml', says='created'), K('get csr {ns}', says='Pending'), K('certificate approve {ns}', says='approved'),
         Has('csr {ns}', '{.status.conditions[0].type}', 'Approved'), K('create -f {dir}/other.yaml'), K('certificate deny {ns}-other', says='denied'), K('get csr {ns}-other', says='Denied'), since=20),
    Flow('the cluster', K('cluster-info', says='is running at'), K('version', says='Server Version', until=NEWEST), K('get ns', says=['default', 'kube-system', '{ns}']),
         K('get svc kubernetes -n default -o name', says='service/kubernetes'), K('cluster-info dump -n {ns} --namespaces={ns}', says='"kind": "NodeList"')),
    Flow('a secret is not shown', K('create secret generic s --from-literal=password=hunter2'), K('get secret s', says='Opaque', lacks='hunter2'),
         K("get secret s -o go-template='{{.data.password | base64decode}}'", says='hunter2')),
    Flow('another field manager', K('create cm c --from-literal=a=1 --field-manager=me'), Has('cm c', '{.metadata.managedFields[0].manager}', 'me', since=21),
         K('label cm c a=b --field-manager=you'), K("get cm c -o jsonpath='{.metadata.managedFields[*].manager}'", says='you')),
    Flow('wrong objects', K('create -f -', POD % ('Bad_Name', ''), code=1, says=['Invalid value', 'Bad_Name', 'RFC 1123']),
         K('create -f -', 'apiVersion: v1\nkind: Nonsense\nmetadata: {name: x}\n', code=1, says='no matches for kind "Nonsense" in version "v1"'),
         K('create -n nowhere-{ns} cm c', code=1, says='namespaces "nowhere-{ns}" not found'),
         K('create quota q --hard=nonsense=1', code=1, says='nonsense')),
]

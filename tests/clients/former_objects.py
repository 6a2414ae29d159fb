"""One valid object of each kind in each version that is not served any more and that 1.36 can read, as users wrote it: members that have a
default are left out."""

POD = {'metadata': {'labels': {'app': 'old'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}
RULE = {'operations': ['CREATE'], 'apiGroups': [''], 'apiVersions': ['v1'], 'resources': ['pods']}
HOOK = {'name': 'old.example.com', 'clientConfig': {'service': {'namespace': 'ns', 'name': 'hook'}}, 'rules': [RULE]}
POLICY = {'matchConstraints': {'resourceRules': [RULE]}, 'validations': [{'expression': 'object.metadata.name != "x"'}]}
BINDING = {'policyName': 'p.example.com', 'validationActions': ['Deny']}
ROLE_REF = {'kind': 'ClusterRole', 'name': 'old', 'apiGroup': 'rbac.authorization.k8s.io'}
SUBJECTS = [{'kind': 'User', 'name': 'u'}, {'kind': 'ServiceAccount', 'name': 's', 'namespace': 'ns'}, {'kind': 'Group', 'name': 'g'}]
LEVEL = {'type': 'Limited', 'limited': {'limitResponse': {'type': 'Queue', 'queuing': {}}}}
SCHEMA = {'priorityLevelConfiguration': {'name': 'old'}, 'distinguisherMethod': {'type': 'ByUser'}, 'rules': [
    {'subjects': [{'kind': 'User', 'user': {'name': 'u'}}], 'nonResourceRules': [{'verbs': ['get'], 'nonResourceURLs': ['/x']}]}]}
EVENT = {'regarding': {'kind': 'Pod', 'namespace': 'ages', 'name': 'p'}, 'eventTime': '2020-01-02T03:04:05.000006Z', 'reason': 'Old', 'note': 'was',
         'type': 'Normal', 'action': 'Do', 'reportingController': 'example.com/c', 'reportingInstance': 'c-1'}
INGRESS = {'backend': {'serviceName': 'all', 'servicePort': 80}, 'rules': [{'host': 'a.example.com', 'http': {'paths': [
    {'path': '/a', 'backend': {'serviceName': 'a', 'servicePort': 'web'}}]}}]}
NETWORK_POLICY = {'podSelector': {}, 'ingress': [{'ports': [{'port': 80}]}], 'egress': [{'to': [{'ipBlock': {'cidr': '10.0.0.0/8', 'except': ['10.1.0.0/16']}}]}]}
ATTACHMENT = {'attacher': 'a.example.com', 'nodeName': 'n', 'source': {'persistentVolumeName': 'pv'}}
REQUEST = ('LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkFUQ0JxUUlCQURCSE1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14TGpBcwo=')
SET = {'serviceName': 's', 'template': POD}

# (apiVersion, kind, the members besides metadata)
OBJECTS = (
    ('admissionregistration.k8s.io/v1beta1', 'MutatingWebhookConfiguration', {'webhooks': [HOOK]}),
    ('admissionregistration.k8s.io/v1beta1', 'ValidatingWebhookConfiguration', {'webhooks': [HOOK]}),
    ('admissionregistration.k8s.io/v1alpha1', 'ValidatingAdmissionPolicy', {'spec': POLICY}),
    ('admissionregistration.k8s.io/v1beta1', 'ValidatingAdmissionPolicy', {'spec': POLICY}),
    ('admissionregistration.k8s.io/v1alpha1', 'ValidatingAdmissionPolicyBinding', {'spec': BINDING}),
    ('admissionregistration.k8s.io/v1beta1', 'ValidatingAdmissionPolicyBinding', {'spec': BINDING}),
    ('apps/v1beta1', 'ControllerRevision', {'data': {'a': [1, 'b']}, 'revision': 3}),
    ('apps/v1beta2', 'ControllerRevision', {'data': {'apiVersion': 'apps/v1beta2', 'kind': 'DaemonSet'}, 'revision': 4}),
    ('apps/v1beta1', 'Deployment', {'spec': {'template': POD, 'rollbackTo': {'revision': 7}}}),
    ('apps/v1beta2', 'Deployment', {'spec': {'selector': {'matchLabels': {'app': 'old'}}, 'template': POD}}),
    ('extensions/v1beta1', 'Deployment', {'spec': {'template': POD}}),
    ('apps/v1beta2', 'DaemonSet', {'spec': {'selector': {'matchLabels': {'app': 'old'}}, 'template': POD}}),
    ('extensions/v1beta1', 'DaemonSet', {'spec': {'template': POD, 'templateGeneration': 5}}),
    ('apps/v1beta2', 'ReplicaSet', {'spec': {'selector': {'matchLabels': {'app': 'old'}}, 'template': POD}}),
    ('extensions/v1beta1', 'ReplicaSet', {'spec': {'template': POD}}),
    ('apps/v1beta1', 'StatefulSet', {'spec': SET}),
    ('apps/v1beta2', 'StatefulSet', {'spec': dict(SET, selector={'matchLabels': {'app': 'old'}})}),
    ('autoscaling/v1', 'HorizontalPodAutoscaler', {'spec': {'scaleTargetRef': {'kind': 'Deployment', 'name': 'd', 'apiVersion': 'apps/v1'},
                                                            'maxReplicas': 3, 'targetCPUUtilizationPercentage': 70}}),
    ('batch/v1beta1', 'CronJob', {'spec': {'schedule': '1 2 * * *', 'jobTemplate': {'spec': {'template': {'spec': dict(POD['spec'], restartPolicy='Never')}}}}}),
    ('certificates.k8s.io/v1beta1', 'CertificateSigningRequest', {'spec': {'request': REQUEST, 'username': 'u'}}),
    ('coordination.k8s.io/v1beta1', 'Lease', {'spec': {'holderIdentity': 'h', 'leaseDurationSeconds': 30, 'renewTime': '2020-01-02T03:04:05.000006Z'}}),
    ('discovery.k8s.io/v1beta1', 'EndpointSlice', {'addressType': 'IPv4', 'ports': [{'port': 80}], 'endpoints': [
        {'addresses': ['10.1.2.3'], 'nodeName': 'n', 'topology': {'kubernetes.io/hostname': 'n', 'topology.kubernetes.io/zone': 'z', 'rack': 'r'}},
        {'addresses': ['10.1.2.4'], 'topology': {'kubernetes.io/hostname': 'n2'}}]}),
    ('events.k8s.io/v1beta1', 'Event', EVENT),
    ('flowcontrol.apiserver.k8s.io/v1beta1', 'FlowSchema', {'spec': SCHEMA}),
    ('flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema', {'spec': SCHEMA}),
    ('flowcontrol.apiserver.k8s.io/v1beta3', 'FlowSchema', {'spec': SCHEMA}),
    ('flowcontrol.apiserver.k8s.io/v1beta1', 'PriorityLevelConfiguration', {'spec': {'type': 'Limited', 'limited': dict(LEVEL['limited'], assuredConcurrencyShares=7)}}),
    ('flowcontrol.apiserver.k8s.io/v1beta2', 'PriorityLevelConfiguration', {'spec': LEVEL}),
    ('flowcontrol.apiserver.k8s.io/v1beta3', 'PriorityLevelConfiguration', {'spec': LEVEL}),
    ('networking.k8s.io/v1beta1', 'Ingress', {'spec': INGRESS}),
    ('extensions/v1beta1', 'Ingress', {'spec': INGRESS}),
    ('networking.k8s.io/v1beta1', 'IngressClass', {'spec': {'controller': 'example.com/c'}}),
    ('networking.k8s.io/v1beta1', 'IPAddress', {'spec': {'parentRef': {'resource': 'services', 'namespace': 'ns', 'name': 's'}}}),
    ('networking.k8s.io/v1beta1', 'ServiceCIDR', {'spec': {'cidrs': ['10.9.0.0/24']}}),
    ('extensions/v1beta1', 'NetworkPolicy', {'spec': NETWORK_POLICY}),
    ('node.k8s.io/v1alpha1', 'RuntimeClass', {'spec': {'runtimeHandler': 'h', 'scheduling': {'nodeSelector': {'a': 'b'}}}}),
    ('node.k8s.io/v1beta1', 'RuntimeClass', {'handler': 'h', 'overhead': {'podFixed': {'cpu': '0.25'}}}),
    ('policy/v1beta1', 'PodDisruptionBudget', {'spec': {'maxUnavailable': 1, 'selector': {}}}),
    ('rbac.authorization.k8s.io/v1alpha1', 'ClusterRole', {'rules': [{'verbs': ['get'], 'apiGroups': [''], 'resources': ['pods']}]}),
    ('rbac.authorization.k8s.io/v1beta1', 'ClusterRole', {'rules': [{'verbs': ['get'], 'nonResourceURLs': ['/x']}]}),
    ('rbac.authorization.k8s.io/v1alpha1', 'ClusterRoleBinding', {'roleRef': ROLE_REF, 'subjects': [*SUBJECTS, {'kind': 'User', 'name': '*'}]}),
    ('rbac.authorization.k8s.io/v1beta1', 'ClusterRoleBinding', {'roleRef': ROLE_REF, 'subjects': SUBJECTS}),
    ('rbac.authorization.k8s.io/v1alpha1', 'Role', {'rules': [{'verbs': ['get'], 'apiGroups': [''], 'resources': ['pods'], 'resourceNames': ['p']}]}),
    ('rbac.authorization.k8s.io/v1beta1', 'Role', {'rules': [{'verbs': ['get'], 'apiGroups': [''], 'resources': ['pods']}]}),
    ('rbac.authorization.k8s.io/v1alpha1', 'RoleBinding', {'roleRef': {'kind': 'ClusterRole', 'name': 'old'}, 'subjects': SUBJECTS}),
    ('rbac.authorization.k8s.io/v1beta1', 'RoleBinding', {'roleRef': {'kind': 'ClusterRole', 'name': 'old'}, 'subjects': SUBJECTS}),
    ('resource.k8s.io/v1beta1', 'ResourceClaim', {'spec': {'devices': {'requests': [{'name': 'r', 'deviceClassName': 'c.example.com'}]}}}),
    ('resource.k8s.io/v1beta2', 'ResourceClaim', {'spec': {'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'c.example.com'}}]}}}),
    ('resource.k8s.io/v1beta1', 'DeviceClass', {'spec': {'selectors': [{'cel': {'expression': 'device.driver == "d.example.com"'}}]}}),
    ('resource.k8s.io/v1beta1', 'ResourceSlice', {'spec': {'driver': 'd.example.com', 'nodeName': 'n', 'pool': {'name': 'n', 'resourceSliceCount': 1},
                                                          'devices': [{'name': 'd', 'basic': {'attributes': {'a': {'int': 1}}}}]}}),
    ('scheduling.k8s.io/v1beta1', 'PriorityClass', {'value': 5}),
    ('storage.k8s.io/v1beta1', 'CSIDriver', {'spec': {}}),
    ('storage.k8s.io/v1beta1', 'CSINode', {'spec': {'drivers': [{'name': 'd.example.com', 'nodeID': 'n'}]}}),
    ('storage.k8s.io/v1beta1', 'StorageClass', {'provisioner': 'p.example.com'}),
    ('storage.k8s.io/v1alpha1', 'CSIStorageCapacity', {'storageClassName': 'c', 'capacity': '1Gi'}),
    ('storage.k8s.io/v1beta1', 'CSIStorageCapacity', {'storageClassName': 'c', 'capacity': '1Gi'}),
    ('storage.k8s.io/v1alpha1', 'VolumeAttachment', {'spec': ATTACHMENT}),
    ('storage.k8s.io/v1beta1', 'VolumeAttachment', {'spec': ATTACHMENT}),
    ('storage.k8s.io/v1alpha1', 'VolumeAttributesClass', {'driverName': 'd.example.com', 'parameters': {'a': 'b'}}),
    ('storage.k8s.io/v1beta1', 'VolumeAttributesClass', {'driverName': 'd.example.com', 'parameters': {'a': 'b'}}),
)
# Objects that kube-apiserver stores as JSON, with their keys.
DEFINITION = {'apiVersion': 'apiextensions.k8s.io/v1beta1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': 'olds.example.com', 'uid': 'u-1'},
              'spec': {'group': 'example.com', 'version': 'v1', 'versions': [{'name': 'v1', 'served': True, 'storage': True}], 'names': {'plural': 'olds', 'kind': 'Old'}, 'subresources': {'status': {}},
                       'validation': {'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'n': {'type': 'integer'}}}}}},
                       'additionalPrinterColumns': [{'name': 'N', 'type': 'integer', 'JSONPath': '.spec.n'}], 'preserveUnknownFields': False},
              'status': {'acceptedNames': {'plural': 'olds', 'singular': 'old', 'kind': 'Old', 'listKind': 'OldList'}, 'storedVersions': ['v1'], 'conditions': [
                  {'type': 'NamesAccepted', 'status': 'True', 'lastTransitionTime': '2020-01-02T03:04:05Z', 'reason': 'NoConflicts', 'message': 'no conflicts found'},
                  {'type': 'Established', 'status': 'True', 'lastTransitionTime': '2020-01-02T03:04:05Z', 'reason': 'InitialNamesAccepted',
                   'message': 'the initial names have been accepted'}]}}
SERVICE = {'apiVersion': 'apiregistration.k8s.io/v1beta1', 'kind': 'APIService', 'metadata': {'name': 'v1.away.example.com', 'uid': 'u-2'},
           'spec': {'group': 'away.example.com', 'version': 'v1', 'groupPriorityMinimum': 10, 'versionPriority': 10, 'insecureSkipTLSVerify': True,
                    'service': {'namespace': 'ns', 'name': 'away'}}}

"""A KMS plugin of versions 1 and 2, on upstream's published protos (k8s.io/kms/apis/{v1beta1,v2}/api.proto)."""
from grpc_process import GrpcProcess, field, fields


class KmsPlugin(GrpcProcess):
    """`key_id` names its key; keys that are in `lost` decrypt nothing."""

    def __init__(self, path, key_id='key-1'):
        self.key_id = key_id
        self.lost = set()
        self.healthz = 'ok'
        super().__init__(path)

    def respond(self, path, request):
        service, method = path.rsplit('/', 1)
        answers = self.V1 if service == '/v1beta1.KeyManagementService' else self.V2
        return answers[method](self, fields(request))

    def seal(self, plain):
        return self.key_id.encode() + b':' + self.swap(plain, self.key_id)

    def opened(self, sealed, key_id):
        if key_id in self.lost or not sealed.startswith(key_id.encode() + b':'):
            return b'', '5'
        return field(1, self.swap(sealed[len(key_id) + 1:], key_id)), '0'

    def status(self, _):
        return field(1, 'v2') + field(2, self.healthz) + field(3, self.key_id), '0'

    def encrypt(self, parts):
        annotation = field(1, 'kms.example.com') + field(2, 'test')
        return field(1, self.seal(parts[1][0])) + field(2, self.key_id) + field(3, annotation), '0'

    def decrypt(self, parts):
        return self.opened(parts[1][0], parts[3][0].decode())

    def version_v1(self, parts):
        assert parts[1] == [b'v1beta1'], parts
        return field(1, 'v1beta1') + field(2, 'test') + field(3, '1'), '0'

    def encrypt_v1(self, parts):
        assert parts[1] == [b'v1beta1'], parts
        return field(1, self.seal(parts[2][0])), '0'

    def decrypt_v1(self, parts):
        assert parts[1] == [b'v1beta1'], parts
        return self.opened(parts[2][0], parts[2][0].split(b':')[0].decode())

    V1 = {'Version': version_v1, 'Encrypt': encrypt_v1, 'Decrypt': decrypt_v1}
    V2 = {'Status': status, 'Encrypt': encrypt, 'Decrypt': decrypt}

    @staticmethod
    def swap(content, key_id):
        return bytes(byte ^ (len(key_id) + 17) for byte in content)

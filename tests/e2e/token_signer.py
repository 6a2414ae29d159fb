"""An external signer of service account tokens, on upstream's published proto (k8s.io/externaljwt/apis/v1/api.proto)."""
import os
import time

from grpc_process import GrpcProcess, field, fields
from openid_provider import Key, b64, openssl


class TokenSigner(GrpcProcess):
    """`keys`: all that verify, the first of which signs; those in `hidden` are not for discovery."""

    def __init__(self, path, refresh_seconds=3600, longest_seconds=7200):
        self.folder = os.path.dirname(path)
        self.keys = [Key(self.folder, 'first')]
        self.hidden = set()
        self.refresh_seconds, self.longest_seconds = refresh_seconds, longest_seconds
        super().__init__(path)

    def respond(self, path, request):
        return {'/v1.ExternalJWTSigner/Sign': self.sign, '/v1.ExternalJWTSigner/FetchKeys': self.fetch_keys,
                '/v1.ExternalJWTSigner/Metadata': self.metadata}[path](fields(request))

    def sign(self, parts):
        key = self.keys[0]
        header = b64({'alg': key.alg, 'kid': key.kid, 'typ': 'JWT'})
        return field(1, header) + field(2, b64(key.sign((header + '.' + parts[1][0].decode()).encode()))), '0'

    def fetch_keys(self, _):
        listed = b''
        for key in self.keys:
            der = openssl('pkey', '-in', key.path, '-pubout', '-outform', 'DER')
            listed += field(1, field(1, key.kid) + field(2, der) + field(3, int(key.kid in self.hidden)))
        return listed + field(2, field(1, int(time.time()))) + field(3, self.refresh_seconds), '0'

    def metadata(self, _):
        return field(1, self.longest_seconds), '0'

"""Encrypted values as kube-apiserver stores them, made and read without the server: AES by the openssl program, the rest in Python."""
import os
import struct
import subprocess


def openssl(cipher, key, data, decrypt=False, iv=None):
    command = ['openssl', 'enc', '-' + cipher, '-K', key.hex(), *(['-d'] if decrypt else []), *(['-iv', iv.hex()] if iv else [])]
    if cipher.endswith('ecb'):
        command.append('-nopad')
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


# ---- AES-GCM (NIST SP 800-38D)

def gf_multiply(x, y):
    product = 0
    for bit in range(127, -1, -1):
        if x >> bit & 1:
            product ^= y
        y = y >> 1 ^ (0xe1 << 120 if y & 1 else 0)
    return product


def gcm_tag(key, nonce, sealed, bound_to):
    def padded(data):
        return data + b'\0' * (-len(data) % 16)
    size = len(key) * 8
    zero, first = b'\0' * 16, nonce + b'\0\0\0\1'
    blocks = openssl('aes-%d-ecb' % size, key, zero + first)
    h, mask = int.from_bytes(blocks[:16], 'big'), blocks[16:]
    hashed = 0
    data = padded(bound_to) + padded(sealed) + struct.pack('>QQ', len(bound_to) * 8, len(sealed) * 8)
    for begin in range(0, len(data), 16):
        hashed = gf_multiply(hashed ^ int.from_bytes(data[begin:begin + 16], 'big'), h)
    return bytes(a ^ b for a, b in zip(hashed.to_bytes(16, 'big'), mask))


def gcm_counted(key, nonce, data):
    return openssl('aes-%d-ctr' % (len(key) * 8), key, data, iv=nonce + b'\0\0\0\2')


def gcm_seal(key, plain, bound_to):
    nonce = os.urandom(12)
    sealed = gcm_counted(key, nonce, plain)
    return nonce + sealed + gcm_tag(key, nonce, sealed, bound_to)


def gcm_open(key, data, bound_to):
    nonce, sealed, tag = data[:12], data[12:-16], data[-16:]
    assert gcm_tag(key, nonce, sealed, bound_to) == tag, 'the tag is wrong'
    return gcm_counted(key, nonce, sealed)


# ---- AES-CBC

def cbc_seal(key, plain, _):
    iv = os.urandom(16)
    return iv + openssl('aes-%d-cbc' % (len(key) * 8), key, plain, iv=iv)


def cbc_open(key, data, _):
    return openssl('aes-%d-cbc' % (len(key) * 8), key, data[16:], decrypt=True, iv=data[:16])


# ---- XSalsa20-Poly1305 (NaCl's secretbox)

def salsa_rounds(words):
    x = list(words)
    rotate = [(4, 0, 12, 7), (8, 4, 0, 9), (12, 8, 4, 13), (0, 12, 8, 18), (9, 5, 1, 7), (13, 9, 5, 9), (1, 13, 9, 13), (5, 1, 13, 18),
              (14, 10, 6, 7), (2, 14, 10, 9), (6, 2, 14, 13), (10, 6, 2, 18), (3, 15, 11, 7), (7, 3, 15, 9), (11, 7, 3, 13), (15, 11, 7, 18),
              (1, 0, 3, 7), (2, 1, 0, 9), (3, 2, 1, 13), (0, 3, 2, 18), (6, 5, 4, 7), (7, 6, 5, 9), (4, 7, 6, 13), (5, 4, 7, 18),
              (11, 10, 9, 7), (8, 11, 10, 9), (9, 8, 11, 13), (10, 9, 8, 18), (12, 15, 14, 7), (13, 12, 15, 9), (14, 13, 12, 13), (15, 14, 13, 18)]
    for _ in range(10):
        for to, a, b, bits in rotate:
            total = x[a] + x[b] & 0xffffffff
            x[to] ^= (total << bits | total >> 32 - bits) & 0xffffffff
    return x


SIGMA = struct.unpack('<4I', b'expand 32-byte k')


def salsa_words(key, middle):
    k = struct.unpack('<8I', key)
    n = struct.unpack('<4I', middle)
    return [SIGMA[0], *k[:4], SIGMA[1], *n, SIGMA[2], *k[4:], SIGMA[3]]


def xsalsa_stream(key, nonce, size):
    x = salsa_rounds(salsa_words(key, nonce[:16]))
    subkey = struct.pack('<8I', x[0], x[5], x[10], x[15], *x[6:10])
    out = b''
    for block in range((size + 63) // 64):
        words = salsa_words(subkey, nonce[16:] + struct.pack('<Q', block))
        out += struct.pack('<16I', *[a + b & 0xffffffff for a, b in zip(words, salsa_rounds(words))])
    return out[:size]


def poly1305(key, data):
    r = int.from_bytes(key[:16], 'little') & 0x0ffffffc0ffffffc0ffffffc0fffffff
    total = 0
    for begin in range(0, len(data), 16):
        total = (total + int.from_bytes(data[begin:begin + 16] + b'\1', 'little')) * r % (2 ** 130 - 5)
    return (total + int.from_bytes(key[16:], 'little') & 2 ** 128 - 1).to_bytes(16, 'little')


def secretbox_seal(key, plain, _):
    nonce = os.urandom(24)
    stream = xsalsa_stream(key, nonce, 32 + len(plain))
    sealed = bytes(a ^ b for a, b in zip(plain, stream[32:]))
    return nonce + poly1305(stream[:32], sealed) + sealed


def secretbox_open(key, data, _):
    nonce, tag, sealed = data[:24], data[24:40], data[40:]
    stream = xsalsa_stream(key, nonce, 32 + len(sealed))
    assert poly1305(stream[:32], sealed) == tag, 'the tag is wrong'
    return bytes(a ^ b for a, b in zip(sealed, stream[32:]))


# By the provider's name: prefix, seal(key, plain, bound_to), open(key, data, bound_to).
PROVIDERS = {'aescbc': ('k8s:enc:aescbc:v1:', cbc_seal, cbc_open), 'aesgcm': ('k8s:enc:aesgcm:v1:', gcm_seal, gcm_open),
             'secretbox': ('k8s:enc:secretbox:v1:', secretbox_seal, secretbox_open)}

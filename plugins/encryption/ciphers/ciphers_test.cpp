#include <gtest/gtest.h>

#include <set>

#include "ciphers/cipher.hpp"
#include "testing/hex.hpp"

namespace backplane::encryption {
namespace {

using test::from_hex;
using Make = Outcome<CipherRef> (*)(std::string_view);

const std::string kPlain = "pandas are the best", kKey = from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");

CipherRef made(Make make, const std::string& key) {
  auto cipher = make(key);
  EXPECT_TRUE(cipher.ok());
  return *cipher;
}
std::string sealed(const Cipher& cipher, std::string_view plain, std::string_view bound_to) {
  std::string out = "before";
  EXPECT_TRUE(cipher.seal(plain, bound_to, out).ok());
  EXPECT_TRUE(out.starts_with("before"));
  return out.substr(6);
}
std::string opened(const Cipher& cipher, const std::string& data, std::string_view bound_to) {
  auto plain = cipher.open(data, bound_to);
  return plain.ok() ? *plain : "error: " + plain.failure().text;
}

// ---- values that kube-apiserver has written

TEST(KnownAnswers, AesGcm) {  // TestGCMLegacyDataCompatibility
  const auto cipher = made(&make_aes_gcm, "snorlax_awesomes");
  const std::string data = from_hex("9f27c8fcea8a58c467d8e437dbf2d85955f9b4bd912f4ef967d788a0cb07797dac0a3f0a0845605ca85ac8562b4ae1");
  EXPECT_EQ(opened(*cipher, data, "bamboo"), kPlain);
  EXPECT_EQ(opened(*cipher, data, "bambo"), "error: cipher: message authentication failed");
}

TEST(KnownAnswers, AesGcmWithDerivedKeys) {  // TestExtendedNonceGCMLegacyDataCompatibility
  const auto cipher = made(&make_derived_key_gcm, from_hex("5d40323a820ff95561675e3b95e81867c5fdd561d35a88a2d08b08aa9d4fcf5c"));
  const std::string data = from_hex(
      "2442759e33945fbad709db577a0f037fd8a709fc76979b8942209debcecb9d57efe3d6ff6a1ef6ee9a5003b9833b3043cec1e47b35175b151107a8d2416b0e296bbf"
      "66b5d102fcefdf9a78f293d271");
  EXPECT_EQ(opened(*cipher, data, "bamboo"), kPlain);
  EXPECT_EQ(opened(*cipher, data, ""), "error: cipher: message authentication failed");
}

TEST(KnownAnswers, AesCbc) {  // openssl enc -aes-256-cbc
  const auto cipher = made(&make_aes_cbc, kKey);
  const std::string iv = from_hex("000102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(opened(*cipher, iv + from_hex("ef3f6e1626abe7ab88318ec9c257c59d80111e096254d33b95e5d05b6d78dc1a"), "anything"), kPlain);
}

TEST(KnownAnswers, Secretbox) {  // the vector of NaCl's crypto_secretbox
  const auto cipher = made(&make_secretbox, from_hex("1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389"));
  const std::string plain = from_hex(
      "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3b"
      "e8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705");
  const std::string box = from_hex(
      "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2"
      "c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622"
      "a43d14a6599b1f654cb45a74e355a5");
  EXPECT_EQ(opened(*cipher, from_hex("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37") + box, ""), plain);
}

// ---- every algorithm

struct Algorithm {
  const char* name;
  Make make;
  std::size_t key_bytes;
  std::size_t overhead;  // of a value of 64 bytes
  bool authenticates;    // the value
  bool binds;            // the storage key
};

class EveryCipher : public testing::TestWithParam<Algorithm> {};
INSTANTIATE_TEST_SUITE_P(
    Ciphers, EveryCipher,
    testing::Values(Algorithm{"gcm128", &make_aes_gcm, 16, 28, true, true}, Algorithm{"gcm192", &make_aes_gcm, 24, 28, true, true},
                    Algorithm{"gcm256", &make_aes_gcm, 32, 28, true, true}, Algorithm{"cbc128", &make_aes_cbc, 16, 32, false, false},
                    Algorithm{"cbc256", &make_aes_cbc, 32, 32, false, false}, Algorithm{"secretbox", &make_secretbox, 32, 40, true, false},
                    Algorithm{"derived", &make_derived_key_gcm, 32, 60, true, true}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_P(EveryCipher, ReadsWhatItHasWritten) {
  const auto cipher = made(GetParam().make, kKey.substr(0, GetParam().key_bytes));
  for (std::size_t size : {0U, 1U, 15U, 16U, 17U, 31U, 32U, 1000U, 100'000U}) {
    const std::string plain(size, 'x');
    EXPECT_EQ(opened(*cipher, sealed(*cipher, plain, "/registry/a"), "/registry/a"), plain) << size;
  }
  EXPECT_EQ(sealed(*cipher, std::string(64, 'x'), "").size(), 64 + GetParam().overhead);
}

TEST_P(EveryCipher, NeverWritesTheSameBytesTwice) {
  const auto cipher = made(GetParam().make, kKey.substr(0, GetParam().key_bytes));
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string data = sealed(*cipher, kPlain, "k");
    EXPECT_EQ(data.find("pandas"), std::string::npos);
    EXPECT_TRUE(seen.insert(data.substr(0, 12)).second);
  }
}

TEST_P(EveryCipher, RefusesAChangeOfAnyByte) {
  const auto cipher = made(GetParam().make, kKey.substr(0, GetParam().key_bytes));
  const std::string data = sealed(*cipher, kPlain, "k");
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string changed = data;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const std::string result = opened(*cipher, changed, "k");
    EXPECT_NE(result, kPlain) << i;
    EXPECT_TRUE(!GetParam().authenticates || result.starts_with("error: ")) << i;
  }
}

TEST_P(EveryCipher, RefusesEveryTruncation) {
  const auto cipher = made(GetParam().make, kKey.substr(0, GetParam().key_bytes));
  const std::string data = sealed(*cipher, kPlain, "k");
  for (std::size_t size = 0; size < data.size(); ++size)
    EXPECT_TRUE(opened(*cipher, data.substr(0, size), "k").starts_with("error: ")) << size;
  EXPECT_EQ(opened(*cipher, "", "k"), "error: the stored data was shorter than the required size");
}

TEST_P(EveryCipher, RefusesAnotherKeyAndAnotherPlaceIfItCan) {
  const std::string key = kKey.substr(0, GetParam().key_bytes);
  const auto cipher = made(GetParam().make, key);
  const std::string data = sealed(*cipher, kPlain, "/registry/secrets/a/b");
  EXPECT_EQ(opened(*cipher, data, "/registry/secrets/a/c") != kPlain, GetParam().binds);
  std::string other = key;
  other.back() = '!';
  EXPECT_NE(opened(*made(GetParam().make, other), data, "/registry/secrets/a/b"), kPlain);
}

TEST(Ciphers, RefuseKeysOfAnotherSize) {
  for (std::size_t size : {0U, 8U, 15U, 20U, 33U}) {
    EXPECT_FALSE(make_aes_gcm(std::string(size, 'k')).ok()) << size;
    EXPECT_FALSE(make_aes_cbc(std::string(size, 'k')).ok()) << size;
  }
  EXPECT_EQ(make_secretbox("short").failure().text, "expected key size 32 for secretbox provider, got 5");
  EXPECT_EQ(make_derived_key_gcm("short").failure().text, "invalid seed length 5 used for key generation");
}

TEST(Ciphers, NameWhatIsWrongWithACbcValue) {
  const auto cipher = made(&make_aes_cbc, kKey);
  EXPECT_EQ(opened(*cipher, std::string(33, 'x'), ""), "error: the stored data is not a multiple of the block size");
  // An IV alone, on which kube-apiserver panics.
  EXPECT_EQ(opened(*cipher, std::string(16, 'x'), ""), "error: invalid PKCS7 data (empty or not padded)");
}

}  // namespace
}  // namespace backplane::encryption

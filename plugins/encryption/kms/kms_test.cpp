#include <gtest/gtest.h>

#include "fake_host.hpp"
#include "kms/envelope.hpp"
#include "kms/v2_provider.hpp"
#include "testing/fake_kms.hpp"
#include "testing/hex.hpp"

namespace backplane::encryption {
namespace {

using test::FakeKms;
using test::from_hex;

const std::string kPlace = "/registry/secrets/a/b";

KmsV2Provider::Time& test_time() {
  static KmsV2Provider::Time time{std::chrono::hours(1'000)};
  return time;
}
KmsV2Provider::Time test_now() { return test_time(); }

class KmsTest : public testing::Test {
 protected:
  KmsTest() {
    test_time() = KmsV2Provider::Time(std::chrono::hours(1'000));
    host_.clients = [this](ClientConfig config) -> Result<std::shared_ptr<HttpClient>> {
      server_ = config.server;
      return std::shared_ptr<HttpClient>(kms_);
    };
  }
  // A provider that does not reuse the cached health of the previous provider.
  std::shared_ptr<KmsV2Provider> provider() {
    auto client = make_kms_client(host_, "unix:///run/kms.sock", "plugin", std::chrono::milliseconds(40));
    return std::make_shared<KmsV2Provider>(*client, host_.log, "sha256:server", &test_now);
  }
  template <class T>
  T run(Task<T> task) {
    std::optional<T> out;
    host_.turns.start(into(out, std::move(task)));
    host_.turns.run_until_idle(/*timers=*/true);
    return std::move(*out);
  }
  template <class T>
  static Task<void> into(std::optional<T>& out, Task<T> task) {
    out.emplace(co_await std::move(task));
  }
  std::string checked(const std::shared_ptr<KmsV2Provider>& provider) {
    const auto outcome = run(provider->check());
    return outcome.ok() ? "" : outcome.failure().text;
  }
  std::string write(const std::shared_ptr<KmsV2Provider>& provider, const std::string& plain) {
    auto stored = provider->write_now(kPlace, SharedBytes(plain), {});
    if (!stored) return "waits";
    return stored->ok() ? std::string((*stored)->view()) : "error: " + stored->failure().text;
  }
  static std::string shown(Outcome<ReadValue> value) {
    if (!value.ok()) return "error: " + value.failure().text;
    return std::string(value->bytes.view()) + (value->stale ? " stale" : "");
  }
  std::string read_now(const std::shared_ptr<KmsV2Provider>& provider, const std::string& stored) {
    auto value = provider->read_now(kPlace, SharedBytes(stored));
    return value ? shown(std::move(*value)) : "waits";
  }
  std::string read(const std::shared_ptr<KmsV2Provider>& provider, const std::string& stored) {
    return shown(run(provider->read(kPlace, SharedBytes(stored))));
  }

  std::shared_ptr<FakeKms> kms_ = std::make_shared<FakeKms>();
  std::string server_;
  backplane::test::FakeHost host_;
};

TEST_F(KmsTest, OneKeyEncryptsUntilThePluginsKeyChanges) {
  const auto kms = provider();
  EXPECT_EQ(server_, "unix:///run/kms.sock");
  EXPECT_EQ(write(kms, "v"), "waits");
  EXPECT_EQ(checked(kms), "");
  const std::string first = write(kms, "v"), second = write(kms, "v");
  EXPECT_NE(first, second);
  EXPECT_EQ(read_now(kms, first), "v");
  EXPECT_EQ(kms_->calls["Encrypt"], 1);
  EXPECT_EQ(kms_->calls["Decrypt"], 0);
}

TEST_F(KmsTest, AnotherServerAsksThePluginOnceForEachKey) {
  const auto writer = provider();
  EXPECT_EQ(checked(writer), "");
  const std::string stored = write(writer, "v"), other = write(writer, "w");
  const auto reader = provider();
  EXPECT_EQ(checked(reader), "");
  EXPECT_EQ(read_now(reader, stored), "waits");
  EXPECT_EQ(read(reader, stored), "v");
  EXPECT_EQ(read_now(reader, other), "w");
  EXPECT_EQ(kms_->calls["Decrypt"], 1);
}

TEST_F(KmsTest, ValuesThatNeedTheSameKeyShareOneCall) {
  const auto writer = provider();
  EXPECT_EQ(checked(writer), "");
  const std::string stored = write(writer, "v");
  const auto reader = provider();
  EXPECT_EQ(checked(reader), "");
  Promise<bool> held;
  kms_->before_answer = [&held]() -> Task<void> {
    struct Wait {
      static Task<void> on(Future<bool> future) { co_await future; }
    };
    return Wait::on(held.future());
  };
  std::optional<Outcome<ReadValue>> a, b;
  host_.turns.start(into(a, reader->read(kPlace, SharedBytes(stored))));
  host_.turns.start(into(b, reader->read(kPlace, SharedBytes(stored))));
  EXPECT_FALSE(a || b);
  held.set(true);
  host_.turns.run_until_idle();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(shown(*a), "v");
  EXPECT_EQ(shown(*b), "v");
  EXPECT_EQ(kms_->calls["Decrypt"], 1);
}

TEST_F(KmsTest, ReadsWhatKubeApiserverHasWritten) {
  const std::string seed = from_hex("5d40323a820ff95561675e3b95e81867c5fdd561d35a88a2d08b08aa9d4fcf5c");
  const std::string data = from_hex(
      "2442759e33945fbad709db577a0f037fd8a709fc76979b8942209debcecb9d57efe3d6ff6a1ef6ee9a5003b9833b3043cec1e47b35175b151107a8d2416b0e296bbf"
      "66b5d102fcefdf9a78f293d271");
  kms_->plaintexts["sealed"] = seed;
  // EncryptedObject{data, "key-1", "sealed", {}, HKDF_SHA256_XNONCE_AES_GCM_SEED}.
  const std::string stored = "\x0a" + std::string(1, static_cast<char>(data.size())) + data + "\x12\x05key-1\x1a\x06sealed\x28\x01";
  const auto kms = provider();
  EXPECT_EQ(checked(kms), "");
  EXPECT_EQ(shown(run(kms->read("bamboo", SharedBytes(stored)))), "pandas are the best");
  EXPECT_EQ(shown(run(kms->read("willow", SharedBytes(stored)))), "error: cipher: message authentication failed");
  // Before 1.27 the key itself was encrypted.
  kms_->plaintexts["direct"] = "snorlax_awesomes";
  const std::string gcm = from_hex("9f27c8fcea8a58c467d8e437dbf2d85955f9b4bd912f4ef967d788a0cb07797dac0a3f0a0845605ca85ac8562b4ae1");
  const std::string old = "\x0a" + std::string(1, static_cast<char>(gcm.size())) + gcm +
                          "\x12\x05key-1\x1a\x06"
                          "direct";
  EXPECT_EQ(shown(run(kms->read("bamboo", SharedBytes(old)))), "pandas are the best stale");
}

TEST_F(KmsTest, AChangedKeyIdRotatesAndMakesValuesStale) {
  const auto kms = provider();
  EXPECT_EQ(checked(kms), "");
  const std::string old = write(kms, "v");
  kms_->key_id = "key-2";
  kms_->annotations = {{"version.example.com", "2"}};
  // The health of a plugin is cached for twenty seconds; a provider of another server sends a request.
  EXPECT_EQ(checked(kms), "");
  EXPECT_EQ(read_now(kms, old), "v");
  const auto next = provider();
  EXPECT_EQ(checked(next), "");
  EXPECT_EQ(read(next, old), "v stale");
  const std::string stored = write(next, "v");
  EXPECT_NE(stored.find("key-2"), std::string::npos);
  EXPECT_NE(stored.find("version.example.com"), std::string::npos);
  EXPECT_EQ(read_now(next, stored), "v");
}

TEST_F(KmsTest, AWriteFailsWhenThePluginHasBeenIllForTooLong) {
  const auto kms = provider();
  EXPECT_EQ(checked(kms), "");
  const std::string stored = write(kms, "v");
  test_time() += std::chrono::minutes(3);
  EXPECT_EQ(read_now(kms, write(kms, "w")), "w");
  test_time() += std::chrono::seconds(1);
  EXPECT_TRUE(write(kms, "v").starts_with("error: encryptedDEKSource with keyID hash \"sha256:")) << write(kms, "v");
  EXPECT_NE(write(kms, "v").find(" expired at 1970-02-11T16:03:00Z (current time is 1970-02-11T16:03:01Z)"), std::string::npos)
      << write(kms, "v");
  // Reads still succeed.
  EXPECT_EQ(read_now(kms, stored), "v");
}

TEST_F(KmsTest, AnIllPluginIsNamedWithItsReasons) {
  struct Row {
    std::function<void(FakeKms&)> make_ill;
    std::string reason;
  };
  const Row rows[] = {
      {[](FakeKms& kms) { kms.healthz = "tired"; }, "kmsv2 Provider plugin is not healthy, error: got unexpected healthz status: tired"},
      {[](FakeKms& kms) { kms.version = "v1beta1"; },
       "kmsv2 Provider plugin is not healthy, error: expected KMSv2 API version v2, got v1beta1"},
      {[](FakeKms& kms) { kms.key_id = ""; },
       "kmsv2 Provider plugin is not healthy, error: got invalid KMSv2 KeyID hash \"\": keyID is empty"},
      {[](FakeKms& kms) { kms.healthz = "", kms.version = "", kms.key_id = ""; },
       "kmsv2 Provider plugin is not healthy, error: [got unexpected healthz status: , expected KMSv2 API version v2, got , got invalid "
       "KMSv2 KeyID hash "
       "\"\": keyID is empty]"},
      {[](FakeKms& kms) { kms.key_id = std::string(1025, 'k'); }, ": keyID is 1025 bytes, which exceeds the max size of 1024"},
      {[](FakeKms& kms) { kms.encrypt_key_id = "other"; }, "failed to rotate DEK uid=\""},
      {[](FakeKms& kms) {
         kms.annotations = {{"plain", "x"}};
       },
       "errGen=failed to validate annotations: annotations: Invalid value: \"plain\": should be a domain with at least two segments "
       "separated by dots"},
      {[](FakeKms& kms) {
         kms.annotations = {{"a.b", std::string(33'000, 'x')}};
       },
       "errGen=failed to validate annotations: total size of annotations is 33003, which exceeds the max size of 32768"},
      {[](FakeKms& kms) { kms.fail_status = "9"; },
       "failed to perform status section of the healthz check for KMS Provider plugin, error: rpc error: code = FailedPrecondition desc = "
       "the key is gone"},
      {[](FakeKms& kms) { kms.rubbish = true; },
       "rpc error: code = Internal desc = grpc: failed to unmarshal the received message: proto: cannot parse "
       "invalid wire-format data"},
      {[](FakeKms& kms) { kms.unreachable = true; },
       "rpc error: code = DeadlineExceeded desc = context deadline exceeded while waiting for connections to "
       "become ready: last connection error: connection error: desc = \"transport: Error while dialing: dial "
       "unix /s: connect: connection refused\""},
  };
  for (const Row& row : rows) {
    *kms_ = FakeKms();
    row.make_ill(*kms_);
    const auto kms = provider();
    EXPECT_NE(checked(kms).find(row.reason), std::string::npos) << checked(kms);
    // The cached response is used.
    const int asked = kms_->calls["Status"];
    EXPECT_NE(checked(kms), "");
    EXPECT_EQ(kms_->calls["Status"], asked);
    const bool has_key =
        row.reason.find("healthz status: tired") != std::string::npos || row.reason.find("got v1beta1") != std::string::npos;
    EXPECT_EQ(write(kms, "v") == "error: got unexpected nil transformer", !has_key) << row.reason;
  }
}

TEST_F(KmsTest, AKeyThatThePluginDoesNotDecryptIsAnErrorOfTheValue) {
  const auto writer = provider();
  EXPECT_EQ(checked(writer), "");
  const std::string stored = write(writer, "v");
  const auto reader = provider();
  EXPECT_EQ(checked(reader), "");
  kms_->fail_status = "5";
  EXPECT_EQ(read(reader, stored), "error: failed to decrypt DEK, error: rpc error: code = NotFound desc = the key is gone");
  // The failure is not cached.
  kms_->fail_status.clear();
  EXPECT_EQ(read(reader, stored), "v");
}

TEST_F(KmsTest, DamagedEnvelopesAreErrors) {
  const auto kms = provider();
  EXPECT_EQ(checked(kms), "");
  const std::string stored = write(kms, "v");
  EXPECT_EQ(read_now(kms, ""), "error: encrypted data is empty");
  EXPECT_EQ(read_now(kms, "\xff\xff"), "error: proto: cannot parse invalid wire-format data");
  EXPECT_EQ(read_now(kms, "\x0a\x01x\x28\x02"), "error: unknown encryptedDEKSourceType: 2");
  EXPECT_EQ(read_now(kms, "\x0a\x01x\x28\x01"), "error: failed to validate encrypted DEK source: encrypted DEK source is empty");
  EXPECT_EQ(read_now(kms, "\x0a\x01x\x1a\x01y\x28\x01"), "error: failed to validate key id: keyID is empty");
  for (std::size_t i = 0; i < stored.size(); ++i) {
    std::string changed = stored;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_NE(read(kms, changed), "v") << i;
    EXPECT_NE(read(kms, stored.substr(0, i)), "v") << i;
  }
}

TEST_F(KmsTest, EncodesAnEnvelopeInTheOrderOfItsFields) {
  std::string out;
  append_envelope({"sealed", "key-1", {{"a.b", "c"}}}, KeySource::kAesGcmSeed, "data", out);
  EXPECT_EQ(out,
            "\x0a\x04"
            "data\x12\x05key-1\x1a\x06sealed\x22\x08\x0a\x03"
            "a.b\x12\x01"
            "c\x28\x01");
}

TEST_F(KmsTest, Version1EncryptsAKeyForEachWrite) {
  kms_->version = "v1beta1";
  auto made = make_kms_v1_provider(host_, {"old", "unix:///run/kms.sock", std::chrono::milliseconds(40), 1});
  ASSERT_TRUE(made.ok());
  const KmsProviderRef kms = *made;
  const auto checked = run(kms->check());
  EXPECT_TRUE(checked.ok());
  auto first = run(kms->write(kPlace, SharedBytes(std::string("v")), {}));
  auto second = run(kms->write(kPlace, SharedBytes(std::string("w")), {}));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->view().substr(0, 2), std::string_view("\0\x20", 2));
  EXPECT_EQ(kms_->calls["Version"], 1);
  EXPECT_EQ(kms_->calls["Encrypt"], 3);
  // The cache has room for one key.
  EXPECT_TRUE(kms->read_now(kPlace, *second));
  EXPECT_FALSE(kms->read_now(kPlace, *first));
  EXPECT_EQ(shown(run(kms->read(kPlace, *first))), "v");
  EXPECT_EQ(shown(*kms->read_now(kPlace, SharedBytes(std::string("\x01")))),
            "error: invalid data encountered by envelope transformer: failed to read uint16 length prefixed data");
  kms_->version = "v2";
  const auto wrong = *make_kms_v1_provider(host_, {"old", "unix:///run/kms.sock", std::chrono::milliseconds(40), 1});
  EXPECT_EQ(run(wrong->check()).failure().text,
            "failed to perform encrypt section of the healthz check for KMS Provider old, error: KMS provider api version v2 is not "
            "supported, only v1beta1 is "
            "supported now");
}

TEST(KmsEndpoint, IsAPathOrAnAbstractName) {
  EXPECT_EQ(socket_path("unix:///var/run/kms.sock"), "/var/run/kms.sock");
  EXPECT_EQ(socket_path("unix:///@kms"), "@kms");
  EXPECT_EQ(socket_path("unix:///a%20b?x=y"), "/a b");
  EXPECT_EQ(socket_path("unix://"), "");
}

TEST(KeyCache, KeepsTheMostRecentlyUsed) {
  KeyCache cache(2);
  const CipherRef cipher = *make_aes_gcm(std::string(16, 'k'));
  cache.insert("a", cipher);
  cache.insert("b", cipher);
  EXPECT_TRUE(cache.find("a"));
  EXPECT_EQ(cache.insert("c", cipher), 2U);
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("a") && cache.find("c"));
}

}  // namespace
}  // namespace backplane::encryption

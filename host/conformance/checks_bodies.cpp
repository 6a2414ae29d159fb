#include <random>

#include "conformance/checks.hpp"

namespace backplane::conformance {
namespace {

constexpr std::string_view kYaml = "application/yaml", kCbor = "application/cbor", kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr int kMutations = 400;

// Makes copies of a text with some bytes changed, removed, repeated or inserted. All runs make the same copies.
class Mutator {
 public:
  explicit Mutator(std::string text) : text_(std::move(text)) {}
  std::string next() {
    std::string out = text_;
    for (std::size_t changes = 1 + below(4); changes > 0 && !out.empty(); --changes) {
      const std::size_t at = below(out.size());
      const std::size_t kind = below(4);
      if (kind == 0) out[at] = static_cast<char>(below(256));
      if (kind == 1) out.erase(at, 1 + below(8));
      if (kind == 2) out.insert(at, out.substr(at, 1 + below(16)));
      if (kind == 3) out.insert(at, 1, "\"{}[]:,0-\x00\xff"[below(11)]);
    }
    return out;
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::minstd_rand random_{1};
  const std::string text_;
};

// Sends changed bodies. The server must accept each of them, or refuse it with a code below 500.
void check_broken_bodies(Subject& subject, Report& report, std::string_view media_type, const std::string& body) {
  Mutator mutator(body);
  std::string worst;
  int asked = 0;
  for (; asked < kMutations && worst.empty(); ++asked) {
    const Answer answer =
        subject.api.send("POST", subject.collection("dryRun=All"), mutator.next(), {{"Content-Type", std::string(media_type)}});
    if (answer.code == 0 || answer.code >= 500) worst = shown(answer);
  }
  report.holds(std::to_string(kMutations) + " broken bodies of " + std::string(media_type) + " cause no fault of the server", worst.empty(),
               "body " + std::to_string(asked) + ": " + worst);
}

}  // namespace

void check_bodies(Subject& subject, Report& report) {
  const auto post = [&](std::string body, std::string_view type, std::string_view query = "dryRun=All") {
    return subject.api.send("POST", subject.collection(query), std::move(body), {{"Content-Type", std::string(type)}});
  };
  report.error("a truncated object is refused", post("{\"kind\":", kJson), 400, "BadRequest");
  report.error("a list instead of an object is refused", post("[]", kJson), 400, "BadRequest");
  report.error("another media type is refused", post("kind: Other", "text/plain"), 415, "UnsupportedMediaType");
  report.error("a nesting of 20,000 is refused", post("{\"metadata\":" + std::string(20'000, '['), kJson), 400, "BadRequest");
  Object large = subject.object(subject.fresh());
  ensure_object(ensure_object(large, "metadata"), "annotations")["a"] = std::string(4 << 20, 'x');
  report.error("a body over 3 MiB is refused", subject.api.post(subject.collection("dryRun=All"), large), 413, "RequestEntityTooLarge");
  const std::string name = subject.created();
  const Answer yaml = subject.api.get(subject.item(name), kYaml);
  const std::string json = to_json(subject.object("conformance-body"));
  report.code("YAML is accepted", post(json, kYaml), 201);
  check_broken_bodies(subject, report, kJson, json);
  check_broken_bodies(subject, report, kYaml, yaml.body);
  for (const std::string_view type : {kCbor, kProtobuf}) {
    const Answer encoded = subject.api.get(subject.item(name), type);
    if (encoded.code == 200) check_broken_bodies(subject, report, type, encoded.body);
  }
}

}  // namespace backplane::conformance

#include "kms/envelope.hpp"

#include <vector>

#include "backplane/types/names.hpp"
#include "kms.pb.h"
#include "kms/messages.hpp"
#include "step.hpp"

namespace backplane::encryption {
namespace {

constexpr std::size_t kMostKeyId = 1024, kMostEncryptedKey = 1024, kMostAnnotations = std::size_t{32} * 1024;

std::string joined_problems(const Problems& problems) {
  std::string out;
  for (const std::string& each : problems) out.append(out.empty() ? "" : ",").append(each);
  return out;
}

Failure annotation_error(std::string_view key, const std::string& why) {
  return Failure{"annotations: Invalid value: " + backplane::quoted(key) + ": " + why};
}

// validation.IsFullyQualifiedDomainName.
Outcome<Done> check_domain(std::string_view name) {
  if (name.empty()) return Failure{"annotations: Required value"};
  if (name.ends_with('.')) name.remove_suffix(1);
  if (const auto problems = is_dns1123_subdomain(name); !problems.empty()) return annotation_error(name, joined_problems(problems));
  if (name.find('.') == std::string_view::npos) {
    return annotation_error(name, "should be a domain with at least two segments separated by dots");
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view label = name.substr(begin, end - begin);
    if (const auto problems = is_dns1123_label(label); !problems.empty()) return annotation_error(label, joined_problems(problems));
    begin = end + 1;
  }
  return Done();
}

Outcome<Done> check_annotations(const Annotations& annotations) {
  std::vector<Failure> errors;
  std::size_t size = 0;
  for (const auto& [key, value] : annotations) {
    if (auto checked = check_domain(key); !checked.ok()) errors.push_back(checked.take_failure());
    size += key.size() + value.size();
  }
  if (size > kMostAnnotations) {
    errors.push_back(
        {"total size of annotations is " + std::to_string(size) + ", which exceeds the max size of " + std::to_string(kMostAnnotations)});
  }
  if (errors.empty()) return Done();
  return Failure{"failed to validate annotations: " + joined_errors(errors)};
}

Outcome<Done> check_encrypted_key(std::string_view ciphertext) {
  const std::string context = "failed to validate encrypted DEK source: encrypted DEK source is ";
  if (ciphertext.empty()) return Failure{context + "empty"};
  if (ciphertext.size() <= kMostEncryptedKey) return Done();
  return Failure{context + std::to_string(ciphertext.size()) + " bytes, which exceeds the max size of " +
                 std::to_string(kMostEncryptedKey)};
}

void append_number(std::string& out, std::size_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xFFU);
}
void append_sized(std::string& out, std::string_view text) {
  append_number(out, text.size(), 2);
  out.append(text);
}

}  // namespace

KeyIdProblem check_key_id(std::string_view key_id) {
  if (key_id.empty()) return {"empty", "keyID is empty"};
  if (key_id.size() <= kMostKeyId) return {"ok", {}};
  return {"too_long", "keyID is " + std::to_string(key_id.size()) + " bytes, which exceeds the max size of " + std::to_string(kMostKeyId)};
}

Outcome<Done> check_key(const EncryptedKey& key) {
  if (auto checked = check_encrypted_key(key.ciphertext); !checked.ok()) return checked;
  if (const KeyIdProblem problem = check_key_id(key.key_id); !problem.text.empty()) {
    return Failure{"failed to validate key id: " + problem.text};
  }
  return check_annotations(key.annotations);
}

Outcome<Envelope> parse_envelope(std::string_view bytes) {
  kms_api::EncryptedObject message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return undecodable_value();
  const int source = message.encrypted_dek_source_type();
  if (source != static_cast<int>(KeySource::kAesGcmKey) && source != static_cast<int>(KeySource::kAesGcmSeed)) {
    return Failure{"unknown encryptedDEKSourceType: " + std::to_string(source)};
  }
  if (message.encrypted_data().empty()) return Failure{"encrypted data is empty"};
  Envelope envelope;
  envelope.source = static_cast<KeySource>(source);
  envelope.encrypted_data = std::move(*message.mutable_encrypted_data());
  envelope.key.ciphertext = std::move(*message.mutable_encrypted_dek_source());
  envelope.key.key_id = std::move(*message.mutable_key_id());
  envelope.key.annotations.insert(message.annotations().begin(), message.annotations().end());
  if (auto checked = check_key(envelope.key); !checked.ok()) return checked.take_failure();
  return envelope;
}

void append_envelope(const EncryptedKey& key, KeySource source, std::string encrypted_data, std::string& out) {
  kms_api::EncryptedObject message;
  message.set_encrypted_data(std::move(encrypted_data));
  message.set_key_id(key.key_id);
  message.set_encrypted_dek_source(key.ciphertext);
  message.mutable_annotations()->insert(key.annotations.begin(), key.annotations.end());
  message.set_encrypted_dek_source_type(static_cast<int>(source));
  message.AppendToString(&out);
}

std::string cache_key(const EncryptedKey& key, KeySource source) {
  std::string out;
  append_number(out, static_cast<std::size_t>(source), 4);
  append_sized(out, key.ciphertext);
  append_sized(out, key.key_id);
  if (key.annotations.empty()) return out;
  append_number(out, key.annotations.size(), 4);
  for (const auto& [name, value] : key.annotations) {
    append_sized(out, name);
    append_sized(out, value);
  }
  return out;
}

}  // namespace backplane::encryption

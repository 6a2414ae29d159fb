// Writes the objects of encrypted resources again, through the API of a running server, so that all are stored with the current key.
//
// An object is patched without a change: the server writes it if it is stored with another key, or not encrypted, and does not write it
// otherwise. Only metadata are transferred. The progress is saved after each page; a run that was interrupted continues there.
//
// Thread-safety: one task on an executor.
// Lifetime:      the settings are copied.
// Errors:        the server's Status for what cannot be listed at all; single objects that cannot be written are counted and reported.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backplane/net/client.hpp"

namespace backplane {

struct ReencryptSettings {
  std::shared_ptr<HttpClient> client;
  std::string server;                  // part of the saved progress
  std::string progress_file;           // empty: the progress is not saved
  std::vector<std::string> resources;  // "secrets", "widgets.example.com"; empty: all resources that the server encrypts
  std::size_t workers = 16;
  std::int64_t page = 500;
  // Receives the resource and its progress: from time to time, and when the resource is complete.
  struct Done {
    std::string resource;
    std::uint64_t objects = 0, written = 0, failed = 0;
  };
  std::function<void(const Done& done, bool complete)> progress = {};
};

struct ReencryptReport {
  std::uint64_t resources = 0, objects = 0, written = 0, failed = 0;
  bool resumed = false;
  std::vector<std::string> errors;  // the first ones
};

Task<Result<ReencryptReport>> reencrypt(ReencryptSettings settings);

// Whether a resource matches one of `patterns`, which have the form of EncryptionConfiguration: "secrets", "*.", "*.apps", "*.*".
bool is_encrypted_resource(const std::vector<std::string>& patterns, std::string_view group, std::string_view resource);

}  // namespace backplane

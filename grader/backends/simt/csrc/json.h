// Just enough JSON writing for the C interface.
#pragma once
#include "base.h"

namespace simt {

class Json {
 public:
  std::string text;

  Json& open(char bracket) {
    separate();
    text += bracket;
    return *this;
  }
  Json& close(char bracket) {
    text += bracket;
    return *this;
  }
  Json& key(const char* name) {
    separate();
    string(name);
    text += ':';
    return *this;
  }
  void field(const char* name, const std::string& value) {
    key(name);
    string(value);
  }
  void field(const char* name, long long value) {
    key(name);
    text += std::to_string(value);
  }
  void field(const char* name, uint3 v) {
    key(name);
    text += "[" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + "]";
  }
  Json& element(const std::string& value) {
    separate();
    string(value);
    return *this;
  }
  Json& element(long long value) {
    separate();
    text += std::to_string(value);
    return *this;
  }

 private:
  void separate() {
    if (!text.empty() && !strchr("[{:,", text.back())) text += ',';
  }
  void string(const std::string& value) {
    text += '"';
    for (unsigned char c : value) {
      char escaped[8];
      if (c == '"' || c == '\\' || c < 0x20) {
        snprintf(escaped, sizeof escaped, "\\u%04x", c);
        text += escaped;
      } else {
        text += char(c);
      }
    }
    text += '"';
  }
};

}  // namespace simt

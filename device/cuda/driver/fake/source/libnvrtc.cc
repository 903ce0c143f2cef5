// A libnvrtc whose compiler is g++: it makes shared objects for the fake
// libcuda, with the emulation header in front. What it calls machine code is a
// line with the object's name.
//
//   KESTREL_FAKE_DIR      where the objects go
//   KESTREL_FAKE_INCLUDE  the folder of emulate.h
//   KESTREL_FAKE_CXX      the compiler (g++)
//   KESTREL_FAKE_CXXFLAGS more options, separated by blanks (-O2)
//   KESTREL_FAKE_REFUSE   sources with this in them are refused
//   KESTREL_FAKE_IDLE     1: nothing is compiled, for cards that carry nothing out
//   KESTREL_FAKE_BEND     NAME, TEXT and OTHER, a line each: in the source of this name OTHER stands for the first TEXT

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

extern char **environ;

namespace {

struct Program {
  std::string source, name, log, image;
};

std::atomic<int> serial;

std::string setting(const char *name, const char *otherwise) {
  const char *text = getenv(name);
  return text && *text ? text : otherwise;
}

// word takes the next word, or single character, off a text.
std::string word(const std::string &text, size_t &at) {
  while (at < text.size() && isspace(static_cast<unsigned char>(text[at]))) at++;
  size_t from = at;
  while (at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) at++;
  if (at == from && at < text.size()) at++;
  return text.substr(from, at - from);
}

// kernels finds the names of all kernels of a source: what follows __global__
// void, launch bounds left out.
std::set<std::string> kernels(const std::string &source) {
  std::set<std::string> names;
  const std::string mark = "__global__";
  for (size_t at = source.find(mark); at != std::string::npos; at = source.find(mark, at)) {
    at += mark.size();
    std::string w;
    while ((w = word(source, at)) == "void" || w == "__launch_bounds__")
      if (w != "void") at = source.find(')', at) + 1;
    if (word(source, at) == "(") names.insert(w);
  }
  return names;
}

std::string read(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool run(std::vector<std::string> words, const std::string &log) {
  std::vector<char *> argv;
  for (auto &w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid;
  int status = 1;
  bool ran = posix_spawnp(&pid, argv[0], &files, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  while (ran && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ran && status == 0;
}

// bent is a program's source as KESTREL_FAKE_BEND has it compiled.
std::string bent(const Program &p) {
  std::stringstream lines(setting("KESTREL_FAKE_BEND", ""));
  std::string name, text, other, source = p.source;
  if (!std::getline(lines, name) || !std::getline(lines, text) || !std::getline(lines, other) || name != p.name) return source;
  size_t at = source.find(text);
  return at == std::string::npos ? source : source.replace(at, text.size(), other);
}

int give(const std::string &text, char *to) {
  memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

}  // namespace

API int nvrtcVersion(int *major, int *minor) {
  *major = 12, *minor = 4;
  return 0;
}

API const char *nvrtcGetErrorString(int code) { return code == 6 ? "NVRTC_ERROR_COMPILATION" : code ? "an error" : "NVRTC_SUCCESS"; }

API int nvrtcGetNumSupportedArchs(int *n) {
  *n = 2;
  return 0;
}

API int nvrtcGetSupportedArchs(int *archs) {
  archs[0] = 80, archs[1] = 90;
  return 0;
}

API int nvrtcCreateProgram(Program **program, const char *source, const char *name, int, const char *const *, const char *const *) {
  *program = new Program{source, name ? name : "source.cu", "", ""};
  return 0;
}

API int nvrtcDestroyProgram(Program **program) {
  delete *program;
  *program = nullptr;
  return 0;
}

API int nvrtcCompileProgram(Program *p, int n, const char *const *options) {
  std::string refused = setting("KESTREL_FAKE_REFUSE", "");
  if (!refused.empty() && p->source.find(refused) != std::string::npos) return p->log = "refused: " + refused, 6;
  if (setting("KESTREL_FAKE_IDLE", "") == "1") return p->image = "KESTREL-FAKE-MODULE none\n", 0;
  std::string stem = setting("KESTREL_FAKE_DIR", "/tmp") + "/module-" + std::to_string(getpid()) + "-" + std::to_string(++serial);
  std::ofstream text(stem + ".cc");
  text << "#include \"emulate.h\"\n#line 1 \"" << p->name << "\"\n" << bent(*p) << "\n#line 1 \"kernels of " << p->name << "\"\n";
  for (auto &name : kernels(p->source)) text << "EMULATE_KERNEL(" << name << ")\n";
  text.close();
  std::vector<std::string> words = {setting("KESTREL_FAKE_CXX", "g++"), "-std=c++17", "-fPIC", "-shared", "-w", "-I" + setting("KESTREL_FAKE_INCLUDE", ".")};
  std::stringstream more(setting("KESTREL_FAKE_CXXFLAGS", "-O2"));
  for (std::string w; more >> w;) words.push_back(w);
  for (int i = 0; i < n; i++)
    if (!strncmp(options[i], "-D", 2) || !strncmp(options[i], "-I", 2)) words.push_back(options[i]);
  words.insert(words.end(), {"-o", stem + ".so", stem + ".cc"});
  bool good = run(words, stem + ".log");
  p->log = read(stem + ".log");
  p->image = "KESTREL-FAKE-MODULE " + stem + ".so\n";
  return good ? 0 : 6;
}

API int nvrtcGetProgramLogSize(Program *p, size_t *size) {
  *size = p->log.size() + 1;
  return 0;
}

API int nvrtcGetProgramLog(Program *p, char *to) { return give(p->log, to); }

API int nvrtcGetPTXSize(Program *p, size_t *size) {
  *size = p->image.size() + 1;
  return 0;
}

API int nvrtcGetPTX(Program *p, char *to) { return give(p->image, to); }

API int nvrtcGetCUBINSize(Program *p, size_t *size) { return nvrtcGetPTXSize(p, size); }

API int nvrtcGetCUBIN(Program *p, char *to) { return give(p->image, to); }

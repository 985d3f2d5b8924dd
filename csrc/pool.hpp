// A persistent pool of threads for loops of independent tasks.
//
// The caller works too, and never waits for a worker that has not arrived: on a loaded machine it
// simply does more of the tasks. Results must not depend on who does which task; the kernels see
// to it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace spheremix {

// task: number of the task; thread: 0 for the caller, 1.. for workers, always below n_threads.
using Task = void (*)(void* context, std::int64_t task, int thread);

inline void relax() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

// Threads started meanwhile take no signals: Ctrl-C must reach a thread of the interpreter.
class QuietSignals {
#if defined(__unix__) || defined(__APPLE__)
public:
    QuietSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~QuietSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
#endif
};

class Pool {
public:
    // The pool of this process. A forked child has no threads of its parent: it starts anew, and
    // leaves the old pool alone because its locks may have been held when the process forked.
    static Pool& instance() {
        static std::atomic<Pool*> current{nullptr};
        Pool* pool = current.load(std::memory_order_acquire);
        const long pid = process();
        if (pool && pool->pid_ == pid) return *pool;
        Pool* fresh = new Pool(pid);  // never destroyed: workers may outlive static destructors
        if (current.compare_exchange_strong(pool, fresh)) return *fresh;
        delete fresh;  // it has no workers yet
        return *current.load(std::memory_order_acquire);
    }

    // Run tasks 0 .. n_tasks-1 on at most n_threads threads, the caller included. When another
    // thread of the program is using the pool, the caller does all tasks itself. What a task throws
    // is thrown here, once no worker is inside: the tasks that nobody had begun are not done.
    void run(std::int64_t n_tasks, int n_threads, Task task, void* context) {
        if (n_threads <= 1 || n_tasks <= 1 || !owner_.try_lock()) {
            for (std::int64_t t = 0; t < n_tasks; ++t) task(context, t, 0);
            return;
        }
        std::lock_guard<std::mutex> hold(owner_, std::adopt_lock);
        grow(n_threads - 1);
        task_ = task;
        context_ = context;
        n_tasks_ = n_tasks;
        n_helpers_ = n_threads - 1;
        next_.store(0);
        open_.store(true);
        tickets_.fetch_add(1);
        if (asleep_.load() > 0) {
            std::lock_guard<std::mutex> lock(sleep_);
            wake_.notify_all();
        }
        work(0);
        open_.store(false);
        // A worker announces itself before it looks at open_, so one that saw it true is counted.
        for (int spin = 0; inside_.load() != 0; ++spin) {
            if (spin < 4096)
                relax();
            else
                std::this_thread::yield();
        }
        if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    }

private:
    explicit Pool(long pid) : pid_(pid) {}

    static long process() {
#if defined(__unix__) || defined(__APPLE__)
        return static_cast<long>(getpid());
#else
        return 0;
#endif
    }

    void grow(int n_workers) {
        if (n_workers_ >= n_workers) return;
        const QuietSignals quiet;
        while (n_workers_ < n_workers) {
            try {
                std::thread(&Pool::live, this, n_workers_).detach();
            } catch (const std::system_error&) {
                return;  // no more threads to be had: those there are do the work
            }
            ++n_workers_;
        }
    }

    void work(int thread) {
        try {
            for (std::int64_t t; (t = next_.fetch_add(1)) < n_tasks_;) task_(context_, t, thread);
        } catch (...) {
            next_.store(n_tasks_);
            const std::lock_guard<std::mutex> lock(failing_);
            if (!failed_) failed_ = std::current_exception();
        }
    }

    void live(int worker) {
        std::uint64_t seen = 0;
        for (;;) {
            wait_for_ticket(seen);
            seen = tickets_.load();
            inside_.fetch_add(1);
            if (open_.load() && worker < n_helpers_) work(worker + 1);
            inside_.fetch_sub(1);
        }
    }

    // Spin briefly, for loops that follow one another in a kernel; then sleep.
    void wait_for_ticket(std::uint64_t seen) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
        while (std::chrono::steady_clock::now() < until)
            for (int spin = 0; spin < 64; ++spin) {
                if (tickets_.load(std::memory_order_acquire) != seen) return;
                relax();
            }
        std::unique_lock<std::mutex> lock(sleep_);
        asleep_.fetch_add(1);
        wake_.wait(lock, [&] { return tickets_.load() != seen; });
        asleep_.fetch_sub(1);
    }

    const long pid_;
    std::mutex owner_;  // held by the thread whose tasks are running
    int n_workers_ = 0;

    Task task_ = nullptr;  // the job; written only while no worker is inside
    void* context_ = nullptr;
    std::int64_t n_tasks_ = 0;
    int n_helpers_ = 0;

    std::mutex failing_;
    std::exception_ptr failed_;  // what the first task that failed has thrown

    alignas(64) std::atomic<std::int64_t> next_{0};
    alignas(64) std::atomic<std::uint64_t> tickets_{0};
    std::atomic<bool> open_{false};
    alignas(64) std::atomic<int> inside_{0};
    std::atomic<int> asleep_{0};
    std::mutex sleep_;
    std::condition_variable wake_;
};

}  // namespace spheremix

// Innocent: goroutines that wait for work, for a time and for one another's end, beside one that computes; and a
// lock that is hardly ever held.
package main

import (
	"fmt"
	"math"
	"sync"
	"time"
)

func main() {
	jobs := make(chan float64)
	results := make(chan float64, 16)
	var pool, late sync.WaitGroup
	for worker := 0; worker < 64; worker++ {
		pool.Add(1)
		go func() {
			defer pool.Done()
			for job := range jobs {
				results <- math.Sqrt(job)
			}
		}()
	}
	late.Add(1)
	go func() { late.Wait() }()
	ticker := time.NewTicker(5 * time.Millisecond)
	var lock sync.Mutex
	ticks := 0
	go func() {
		for range ticker.C {
			lock.Lock()
			ticks++
			lock.Unlock()
		}
	}()
	total := 0.0
	for step := 0; step < 400; step++ {
		value := float64(step)
		for i := 0; i < 1000000; i++ {
			value = math.Sqrt(value + float64(i))
		}
		jobs <- value
		total += <-results
		lock.Lock()
		ticks++
		lock.Unlock()
	}
	close(jobs)
	pool.Wait()
	late.Done()
	fmt.Printf("%.6e\n", total)
}

package cli

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"quartermaster/app/server"
	"quartermaster/schema/db"
)

// notifier tells the service manager the server's state, if NOTIFY_SOCKET names one (sd_notify of systemd). The zero
// notifier does nothing.
type notifier struct {
	socket string
	every  time.Duration // between two signs of life; 0: none
}

func (p *program) notifier() notifier {
	n := notifier{socket: p.Getenv("NOTIFY_SOCKET")}
	if usec, err := strconv.ParseInt(p.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && usec > 0 {
		n.every = time.Duration(usec) * time.Microsecond / 3
	}
	return n
}

func (n notifier) send(state string) {
	if n.socket == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	_, _ = conn.Write([]byte(state)) // a failure is the manager's problem
	_ = conn.Close()
}

// run reports that the server is ready, then signs of life while the database answers, until the returned function is
// called.
func (n notifier) run(ctx context.Context, s *server.Server) (end func()) {
	n.send("READY=1")
	if n.socket == "" || n.every == 0 {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // a server that is stopping is alive
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(n.every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if n.answers(ctx, s) {
					n.send("WATCHDOG=1")
				}
			}
		}
	})
	return func() {
		stop()
		running.Wait()
	}
}

// answers reports whether the database can be read. A damaged file is no reason for a restart; an engine that hangs is.
func (n notifier) answers(ctx context.Context, s *server.Server) bool {
	ctx, cancel := context.WithTimeout(ctx, n.every)
	defer cancel()
	_ = s.DB().View(ctx, func(c *db.Conn) error {
		_, _, err := db.One(c, db.Int, "SELECT 1")
		return err
	})
	return ctx.Err() == nil
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
)

type spaceCommands struct {
	Add     spaceAdd            `cmd:"" help:"Add a shared space."`
	List    spaceList           `cmd:"" help:"List shared spaces."`
	Delete  spaceDelete         `cmd:"" help:"Delete a shared space and all its forms and responses."`
	Member  spaceMemberCommands `cmd:"" help:"Add and remove members of a shared space."`
	Members spaceMembers        `cmd:"" help:"List the members of a shared space."`
}

type spaceMemberCommands struct {
	Add    spaceMemberAdd    `cmd:"" help:"Add a user to a shared space, or change the role of a member."`
	Remove spaceMemberRemove `cmd:"" help:"Remove a user from a shared space. Ends their grants and notifications in it."`
}

type spaceAdd struct {
	Name  string `arg:"" help:"Name of the space."`
	Owner string `required:"" env:"FORMULARY_SPACE_OWNER" help:"Email address of the first owner." placeholder:"EMAIL"`
	JSON  bool   `env:"FORMULARY_JSON" help:"Print as JSON."`
}

// spaceOutput is the JSON output of space add.
type spaceOutput struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (c spaceAdd) Run(ctx context.Context, storage Storage, io streams) error {
	return withUser(ctx, storage, c.Owner, func(s *store.Store, p account.User) error {
		name, err := account.ParseSpaceName(c.Name)
		if err != nil {
			return describeProblems(err)
		}
		now := time.Now()
		space := store.Space{Key: id.New(id.User, now), Name: name}
		if err := s.AddSpace(ctx, space, p, now); err != nil {
			return err
		}
		if c.JSON {
			return json.NewEncoder(io.out).Encode(spaceOutput{space.ID(), space.Name})
		}
		_, err = fmt.Fprintf(io.out, "Added %s (%s), owned by %s.\n", space.Name, space.ID(), p.Email)
		return err
	})
}

type spaceList struct{}

func (spaceList) Run(ctx context.Context, storage Storage, io streams) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	spaces, err := s.AllSpaces(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tMEMBERS\tCREATED")
	for _, space := range spaces {
		_, members, err := s.Members(ctx, space.Key, store.Page{Limit: 1})
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", space.ID(), space.Name, members, space.CreatedAt.Format(time.DateOnly))
	}
	return table.Flush()
}

// withSpace opens the store and finds a shared space by its ID.
func withSpace(ctx context.Context, storage Storage, spaceID string, do func(*store.Store, store.Space) error) error {
	s, err := storage.open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	space, err := findSpace(ctx, s, spaceID)
	if err != nil {
		return err
	}
	if !space.Shared {
		return fmt.Errorf("space %s is a user's own space; it has no members", spaceID)
	}
	return do(s, space)
}

// findSpace finds a shared space or the own space of a user.
func findSpace(ctx context.Context, s *store.Store, spaceID string) (store.Space, error) {
	key, ok := account.ParseSpaceID(spaceID)
	if !ok {
		return store.Space{}, fmt.Errorf("space %s not found", spaceID)
	}
	space, err := s.Space(ctx, key)
	if errors.Is(err, fault.NotFound) {
		return space, fmt.Errorf("space %s not found", spaceID)
	}
	return space, err
}

type spaceDelete struct {
	ID  string `arg:"" help:"Space ID."`
	Yes bool   `env:"FORMULARY_YES" help:"Confirm permanent deletion."`
}

func (c spaceDelete) Run(ctx context.Context, storage Storage, io streams) error {
	if !c.Yes {
		return errors.New("this permanently deletes the space and all its forms and responses; add --yes to confirm")
	}
	return withSpace(ctx, storage, c.ID, func(s *store.Store, space store.Space) error {
		places, err := storage.places(ctx, s)
		if err != nil {
			return err
		}
		s.SetObjects(places)
		complete, err := s.DeleteSpace(ctx, space.Key, time.Now())
		if err != nil {
			return err
		}
		fmt.Fprintf(io.out, "Deleted %s.\n", space.Name)
		if !complete {
			fmt.Fprintln(io.out, "The running server deletes the remaining data within 10 minutes.")
		}
		return nil
	})
}

type spaceMemberAdd struct {
	ID    string `arg:"" help:"Space ID."`
	Email string `arg:"" help:"Email address of the user."`
	Role  string `required:"" env:"FORMULARY_SPACE_ROLE" help:"Role: owner, editor or viewer."`
}

func (c spaceMemberAdd) Run(ctx context.Context, storage Storage, io streams) error {
	role, err := account.ParseRole(c.Role)
	if err != nil {
		return describeProblems(err)
	}
	return withSpace(ctx, storage, c.ID, func(s *store.Store, space store.Space) error {
		p, err := findUser(ctx, s, c.Email)
		if err != nil {
			return err
		}
		if err := s.SetMember(ctx, space.Key, p.ID, role, time.Now()); err != nil {
			return err
		}
		_, err = fmt.Fprintf(io.out, "%s is %s of %s.\n", p.Email, role, space.Name)
		return err
	})
}

type spaceMemberRemove struct {
	ID    string `arg:"" help:"Space ID."`
	Email string `arg:"" help:"Email address of the user."`
}

func (c spaceMemberRemove) Run(ctx context.Context, storage Storage, io streams) error {
	return withSpace(ctx, storage, c.ID, func(s *store.Store, space store.Space) error {
		p, err := findUser(ctx, s, c.Email)
		if err != nil {
			return err
		}
		err = s.RemoveMember(ctx, space.Key, p.ID, time.Now())
		if errors.Is(err, fault.NotFound) {
			return fmt.Errorf("%s is not a member of %s", p.Email, space.Name)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(io.out, "Removed %s from %s.\n", p.Email, space.Name)
		return err
	})
}

type spaceMembers struct {
	ID string `arg:"" help:"Space ID."`
}

func (c spaceMembers) Run(ctx context.Context, storage Storage, io streams) error {
	return withSpace(ctx, storage, c.ID, func(s *store.Store, space store.Space) error {
		members, _, err := s.Members(ctx, space.Key, store.Page{Limit: store.MaxMembers})
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "EMAIL\tNAME\tROLE\tADDED")
		for _, m := range members {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Email, m.Name, m.Role, m.AddedAt.Format(time.DateOnly))
		}
		return table.Flush()
	})
}

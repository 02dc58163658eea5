//! The kernel itself: all registries under one revision, one ring of refusals, one grant path.

use crate::authority::TurnGrant;
use crate::ids::{AppId, CommandName, Digest, PackageId, Rev, SkillId, ToolName, TurnKey};
use crate::refusal::{Refusal, RefusalRing};
use crate::registry::{
    AppEntry, AppRegistry, Command, CommandBus, ENTRIES_MAX, GUIDANCE_MAX, Guidance, GuidanceRegistry, PER_APP_MAX,
    Package, PackageManager, PackageState, RegistryRefusal, SUMMARY_MAX, TITLE_MAX,
};
use crate::tools::{OFFERED_MAX, TOOLS_MAX, ToolDriver, ToolRefusal, ToolRouter, ToolSource};
use std::collections::BTreeSet;

/// All registries. Readers borrow it; every change raises [`Kernel::rev`] (I-135).
#[derive(Debug, Default)]
pub struct Kernel {
    rev: Rev,
    packages: PackageManager,
    apps: AppRegistry,
    commands: CommandBus,
    tools: ToolDriver,
    guidance: GuidanceRegistry,
    denied: BTreeSet<ToolName>,
    refusals: RefusalRing,
}

impl Kernel {
    /// Empty registries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Rises by at least one on every change.
    #[must_use]
    pub fn rev(&self) -> Rev {
        self.rev
    }
    /// Packages.
    #[must_use]
    pub fn packages(&self) -> &PackageManager {
        &self.packages
    }
    /// Apps.
    #[must_use]
    pub fn apps(&self) -> &AppRegistry {
        &self.apps
    }
    /// Commands.
    #[must_use]
    pub fn commands(&self) -> &CommandBus {
        &self.commands
    }
    /// Tools.
    #[must_use]
    pub fn tools(&self) -> &ToolDriver {
        &self.tools
    }
    /// Guidance.
    #[must_use]
    pub fn guidance(&self) -> &GuidanceRegistry {
        &self.guidance
    }
    /// The last refusals (decision 32).
    #[must_use]
    pub fn refusals(&self) -> &RefusalRing {
        &self.refusals
    }
    /// Keeps a refusal in the ring and hands it back to be shown.
    pub fn refuse(&mut self, r: impl Into<Refusal>) -> Refusal {
        let r = r.into();
        self.refusals.push(r.clone());
        r
    }
    /// The router over the live registries.
    #[must_use]
    pub fn router(&self) -> ToolRouter<'_> {
        ToolRouter { driver: &self.tools, packages: &self.packages, apps: &self.apps, denied: &self.denied }
    }

    fn bump(&mut self) -> Rev {
        self.rev = self.rev.next();
        self.rev
    }

    /// Registers or updates a package.
    ///
    /// # Errors
    /// `RegistryFull`.
    pub fn put_package(
        &mut self,
        id: PackageId,
        title: &str,
        state: PackageState,
        digest: Digest,
    ) -> Result<(), RegistryRefusal> {
        if self.packages.map.len() >= ENTRIES_MAX && !self.packages.map.contains_key(&id) {
            return Err(RegistryRefusal::RegistryFull);
        }
        let rev = self.bump();
        self.packages.map.insert(id.clone(), Package { id, title: short(title), state, digest, rev });
        Ok(())
    }
    /// Changes a package's state: its rows, commands and tools follow in this one step.
    ///
    /// # Errors
    /// `PackageUnknown`.
    pub fn set_package_state(&mut self, id: &PackageId, state: PackageState) -> Result<(), RegistryRefusal> {
        let p = self.packages.map.get_mut(id).ok_or_else(|| RegistryRefusal::PackageUnknown(id.clone()))?;
        p.state = state;
        p.rev = self.rev.next();
        self.bump();
        Ok(())
    }

    /// Takes a package away, with everything it owns, in one step (I-137).
    ///
    /// # Errors
    /// `PackageUnknown`.
    pub fn remove_package(&mut self, id: &PackageId) -> Result<(), RegistryRefusal> {
        self.packages.map.remove(id).ok_or_else(|| RegistryRefusal::PackageUnknown(id.clone()))?;
        self.apps.map.retain(|_, a| a.package != *id);
        self.commands.map.retain(|_, c| c.owner != *id);
        self.tools.map.retain(|_, t| t.source.owner != *id);
        self.guidance.map.retain(|_, g| g.package != *id);
        self.bump();
        Ok(())
    }

    fn owner(&self, owner: &PackageId) -> Result<&Package, RegistryRefusal> {
        self.packages.get(owner).ok_or_else(|| RegistryRefusal::PackageUnknown(owner.clone()))
    }

    /// Registers or updates an app; `rev` and `package_digest` are the kernel's to set.
    ///
    /// # Errors
    /// `PackageUnknown`, `NotOwner`, `RegistryFull`.
    pub fn put_app(&mut self, app: AppEntry) -> Result<(), RegistryRefusal> {
        let digest = self.owner(&app.package)?.digest;
        match self.apps.map.get(&app.id) {
            Some(old) if old.package != app.package => return Err(RegistryRefusal::NotOwner(app.id.to_string())),
            None if self.apps.map.len() >= ENTRIES_MAX => return Err(RegistryRefusal::RegistryFull),
            _ => {}
        }
        if app.actions.len() > PER_APP_MAX || app.surfaces.len() > PER_APP_MAX || app.tools.len() > OFFERED_MAX {
            return Err(RegistryRefusal::RegistryFull);
        }
        let rev = self.bump();
        let mut app = AppEntry { rev, package_digest: digest, title: short(&app.title), ..app };
        app.actions.iter_mut().for_each(|a| a.title = short(&a.title));
        app.surfaces.iter_mut().for_each(|s| s.title = short(&s.title));
        self.apps.map.insert(app.id.clone(), app);
        Ok(())
    }
    /// Takes an app away.
    ///
    /// # Errors
    /// `NotOwner`, `AppMissing`.
    pub fn remove_app(&mut self, id: &AppId, owner: &PackageId) -> Result<(), RegistryRefusal> {
        match self.apps.map.get(id) {
            None => Err(RegistryRefusal::AppMissing(id.to_string())),
            Some(a) if a.package != *owner => Err(RegistryRefusal::NotOwner(id.to_string())),
            Some(_) => {
                self.apps.map.remove(id);
                self.bump();
                Ok(())
            }
        }
    }

    /// Registers or updates a command; `rev` is the kernel's to set.
    ///
    /// # Errors
    /// `PackageUnknown`, `NotOwner`, `RegistryFull`.
    pub fn put_command(&mut self, command: Command) -> Result<(), RegistryRefusal> {
        self.owner(&command.owner)?;
        match self.commands.map.get(&command.name) {
            Some(old) if old.owner != command.owner => return Err(RegistryRefusal::NotOwner(command.name.to_string())),
            None if self.commands.map.len() >= 4 * ENTRIES_MAX => return Err(RegistryRefusal::RegistryFull),
            _ => {}
        }
        let rev = self.bump();
        let command = Command { rev, title: short(&command.title), ..command };
        self.commands.map.insert(command.name.clone(), command);
        Ok(())
    }
    /// Takes a command away.
    ///
    /// # Errors
    /// `NotOwner`, `CommandUnknown`.
    pub fn remove_command(&mut self, name: &CommandName, owner: &PackageId) -> Result<(), RegistryRefusal> {
        match self.commands.map.get(name) {
            None => Err(RegistryRefusal::CommandUnknown(name.to_string())),
            Some(c) if c.owner != *owner => Err(RegistryRefusal::NotOwner(name.to_string())),
            Some(_) => {
                self.commands.map.remove(name);
                self.bump();
                Ok(())
            }
        }
    }

    /// Registers or updates a tool. A schema that cannot be compiled withholds this one tool;
    /// an older version of it goes too.
    ///
    /// # Errors
    /// `SchemaInvalid`, `TooManyTools`, `OwnerPackageAbsent`.
    pub fn put_tool(&mut self, source: ToolSource) -> Result<Digest, ToolRefusal> {
        let (name, package) = (source.name.clone(), source.owner.clone());
        let owned = self.tools.get(&name).is_none_or(|t| t.source.owner == package);
        if self.packages.get(&package).is_none() || !owned {
            return Err(ToolRefusal::OwnerPackageAbsent { tool: name, package });
        }
        if self.tools.map.len() >= TOOLS_MAX && !self.tools.map.contains_key(&name) {
            return Err(ToolRefusal::TooManyTools);
        }
        let rev = self.bump();
        match ToolDriver::describe(source, rev) {
            Ok(d) => {
                let digest = d.digest;
                self.tools.map.insert(name, d);
                Ok(digest)
            }
            Err(e) => {
                self.tools.map.remove(&name);
                Err(e)
            }
        }
    }
    /// Takes a tool away.
    ///
    /// # Errors
    /// `ToolUnknown`, `OwnerPackageAbsent` when somebody else owns it.
    pub fn remove_tool(&mut self, name: &ToolName, owner: &PackageId) -> Result<(), ToolRefusal> {
        let d = self.tools.get(name).ok_or_else(|| ToolRefusal::ToolUnknown(name.clone()))?;
        if d.source.owner != *owner {
            return Err(ToolRefusal::OwnerPackageAbsent { tool: name.clone(), package: owner.clone() });
        }
        self.tools.map.remove(name);
        self.bump();
        Ok(())
    }
    /// Permits or forbids a tool on this machine. Deny wins over any grant (decision 13).
    pub fn set_denied(&mut self, name: &ToolName, denied: bool) {
        if denied {
            self.denied.insert(name.clone())
        } else {
            self.denied.remove(name)
        };
        self.bump();
    }
    /// Forbidden on this machine.
    #[must_use]
    pub fn is_denied(&self, name: &ToolName) -> bool {
        self.denied.contains(name)
    }

    /// Registers or updates guidance; `rev` is the kernel's to set.
    ///
    /// # Errors
    /// `PackageUnknown`, `NotOwner`, `RegistryFull`.
    pub fn put_guidance(&mut self, g: Guidance) -> Result<(), RegistryRefusal> {
        self.owner(&g.package)?;
        match self.guidance.map.get(&g.id) {
            Some(old) if old.package != g.package => return Err(RegistryRefusal::NotOwner(g.id.to_string())),
            None if self.guidance.map.len() >= GUIDANCE_MAX => return Err(RegistryRefusal::RegistryFull),
            _ => {}
        }
        let rev = self.bump();
        let summary = crate::clip::label(&g.summary, SUMMARY_MAX).into_owned();
        let problem = g.problem.as_deref().map(|p| crate::clip::label(p, SUMMARY_MAX).into_owned());
        self.guidance.map.insert(g.id.clone(), Guidance { rev, title: short(&g.title), summary, problem, ..g });
        Ok(())
    }
    /// Takes guidance away.
    pub fn remove_guidance(&mut self, id: &SkillId) {
        if self.guidance.map.remove(id).is_some() {
            self.bump();
        }
    }

    /// The grant path (I-141): what a turn of `app` may use, out of the tools it asks to offer.
    /// Tools that are not eligible are left out, each with its refusal.
    #[must_use]
    pub fn grant(
        &self,
        turn: TurnKey,
        app: &AppId,
        offer: &[ToolName],
        capabilities: BTreeSet<String>,
        affordances: BTreeSet<String>,
    ) -> (TurnGrant, Vec<ToolRefusal>) {
        let router = self.router();
        let (mut offered, mut refused) = (BTreeSet::new(), Vec::new());
        for name in offer.iter().take(OFFERED_MAX) {
            match router.eligible(name, app) {
                Ok(d) => drop(offered.insert((name.clone(), d.digest))),
                Err(e) => refused.push(e),
            }
        }
        (TurnGrant::cut(turn, offered, capabilities, affordances), refused)
    }
}

/// A title within its bound (`field_5h4`).
fn short(title: &str) -> String {
    crate::clip::label(title, TITLE_MAX).into_owned()
}
